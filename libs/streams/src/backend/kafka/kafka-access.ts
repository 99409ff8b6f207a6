import { errorMessage } from '../../errors.js';
import { silentLogger } from '../../logger.js';
import { createKafkaClient } from './kafka-client.js';
import { SPEAKS_TLS } from './kafkajs/kafkajs-patches.js';
import type { KafkaSettings } from '../../kafka-settings.js';

/** Why brokers and client will not speak to each other, however long one waits. */
export type KafkaRefusal =
  | 'certificate_untrusted'
  | 'certificate_of_another_host'
  | 'client_certificate_refused'
  | 'tls_wanted'
  | 'tls_not_spoken'
  | 'login_refused'
  | 'login_wanted'
  | 'login_not_spoken'
  | 'mechanism_not_offered';

export type KafkaAccess =
  | { readonly type: 'granted' }
  /** Nobody answers at the moment; waiting may help. `reason` is what the network said. */
  | { readonly type: 'away'; readonly reason: string }
  | { readonly type: 'refused'; readonly refusal: KafkaRefusal; readonly reason: string };

/** Connects once, logs in and asks for the brokers: what is wrong with TLS or SASL shows here and nowhere later. */
export async function probeKafkaAccess(settings: KafkaSettings): Promise<KafkaAccess> {
  const client = createKafkaClient(settings, silentLogger);
  try {
    await client.refreshMetadata();
    return { type: 'granted' };
  } catch (error) {
    const facts = factsOf(error);
    const refusal = refusalOf(facts, settings);
    const reason = errorMessage(error);
    return refusal === null ? { type: 'away', reason } : { type: 'refused', refusal, reason };
  } finally {
    await client.close();
  }
}

interface Facts {
  readonly names: string;
  readonly codes: string;
  readonly messages: string;
}

/** What an error and those that it wraps say. */
function factsOf(error: unknown): Facts {
  const chain: Partial<Record<string, unknown>>[] = [];
  for (let at: unknown = error; typeof at === 'object' && at !== null && chain.length < 8;) {
    const link = at as Partial<Record<string, unknown>>;
    chain.push(link);
    at = link['cause'] ?? link['originalError'];
  }
  const all = (...fields: readonly string[]): string =>
    chain.flatMap((link) => fields.map((field) => link[field]).filter((value) => typeof value === 'string')).join(' ');
  return { names: all('name'), codes: all('code', 'type'), messages: all('message') };
}

const UNTRUSTED = /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|CERT_UNTRUSTED|SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/;

const REFUSALS: readonly (readonly [KafkaRefusal, applies: (facts: Facts, settings: KafkaSettings) => boolean])[] = [
  ['certificate_untrusted', ({ codes }) => UNTRUSTED.test(codes)],
  ['certificate_of_another_host', ({ codes }) => codes.includes('ERR_TLS_CERT_ALTNAME_INVALID')],
  // OpenSSL names the alert of the other side: certificate required, bad certificate, unknown ca.
  ['client_certificate_refused', ({ codes, messages }) => /alert.*(certificate|unknown ca)/i.test(codes + messages)],
  ['tls_wanted', ({ messages }) => messages.includes(SPEAKS_TLS)],
  ['tls_not_spoken', ({ codes }) => /EPROTO|WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/.test(codes)],
  // A plain listener hangs up on a TLS greeting, which it takes for an absurd request.
  [
    'tls_not_spoken',
    ({ codes, messages }, { ssl }) => isOn(ssl) && /ECONNRESET/.test(codes) && /before secure TLS/.test(messages),
  ],
  ['login_not_spoken', ({ codes }) => codes.includes('ILLEGAL_SASL_STATE')],
  [
    'mechanism_not_offered',
    ({ codes, messages }) => /UNSUPPORTED_SASL_MECHANISM|mechanism is not supported/.test(codes + messages),
  ],
  ['login_refused', ({ names }) => names.includes('KafkaJSSASLAuthenticationError')],
  // Such a listener tells its versions to anybody and hangs up at the first real question.
  ['login_wanted', ({ names }, { sasl }) => sasl === undefined && names.includes('KafkaJSConnectionClosedError')],
];

function isOn(ssl: KafkaSettings['ssl']): boolean {
  return ssl !== undefined && ssl !== false;
}

function refusalOf(facts: Facts, settings: KafkaSettings): KafkaRefusal | null {
  return REFUSALS.find(([, applies]) => applies(facts, settings))?.[0] ?? null;
}
