import { setTimeout as sleep } from 'node:timers/promises';
import type { KafkaSettings } from '@waypost/streams';
import { BootError } from '../boot-error.js';
import type { LifecyclePart } from '../lifecycle/lifecycle.js';
import { type KafkaRefusal, probeKafkaAccess } from './probe-kafka-access.js';

/** Longer than a handshake, but short enough for an application that can start without Kafka. */
const PROBE_TIMEOUT_MS = 5_000;

const FIXES: Readonly<Record<KafkaRefusal, string>> = {
  certificate_untrusted:
    'The certificate of the brokers is not trusted: name its certificate authority with KAFKA_TLS_CA_FILE',
  certificate_of_another_host: 'The certificate of the broker is for another host: use its host names in KAFKA_BROKERS',
  client_certificate_refused:
    'The brokers do not accept the certificate of this client: check KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE',
  tls_wanted: 'The brokers speak TLS: set KAFKA_TLS=true, or KAFKA_TLS_CA_FILE',
  tls_not_spoken: 'The brokers do not speak TLS at this address: check the ports in KAFKA_BROKERS, or unset KAFKA_TLS',
  login_refused:
    'The brokers rejected this user: check KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD, or the token of KAFKA_OAUTH_*',
  token_refused:
    'The token endpoint returned no token: check KAFKA_OAUTH_TOKEN_URL, KAFKA_OAUTH_CLIENT_ID, KAFKA_OAUTH_CLIENT_SECRET and KAFKA_OAUTH_SCOPE',
  login_wanted:
    'The brokers close the connection of clients that do not log in: set KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD',
  login_not_spoken:
    'The brokers do not offer a login at this address: check the ports in KAFKA_BROKERS, or unset KAFKA_SASL_*',
  mechanism_not_offered: 'The brokers do not offer this mechanism: choose another KAFKA_SASL_MECHANISM',
};

/**
 * Connects once before anything else starts, so that a wrong certificate or login ends the start with one sentence.
 * Unreachable brokers are left to the modules that need them.
 */
export function kafkaAccessPart(kafka: KafkaSettings): LifecyclePart {
  return {
    name: 'kafka access',
    start: async () => {
      const late = sleep(PROBE_TIMEOUT_MS, { type: 'away' } as const, { ref: false });
      const access = await Promise.race([probeKafkaAccess(kafka), late]);
      if (access.type === 'refused') throw kafkaRefused(access);
    },
    stop: () => undefined,
  };
}

/** The one sentence for the user. */
export function kafkaRefused({
  refusal,
  reason,
}: {
  readonly refusal: KafkaRefusal;
  readonly reason: string;
}): BootError {
  return new BootError('kafka_refused', `${FIXES[refusal]} (${reason.replace(/\.$/, '')}).`);
}
