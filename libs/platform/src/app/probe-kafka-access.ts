import { type KafkaSettings, silentLogger } from '@waypost/streams';
import { toError } from '@waypost/streams/admin';
import { KafkaClient, SPEAKS_TLS } from '@waypost/streams/kafka';

/** Why the brokers refuse this client, no matter how long it waits. */
export type KafkaRefusal =
  | 'certificate_untrusted'
  | 'certificate_of_another_host'
  | 'client_certificate_refused'
  | 'tls_wanted'
  | 'tls_not_spoken'
  | 'login_refused'
  | 'token_refused'
  | 'login_wanted'
  | 'login_not_spoken'
  | 'mechanism_not_offered';

export type KafkaAccess =
  | { readonly type: 'granted' }
  /** No broker responds now; waiting may help. `reason` is the network error. */
  | { readonly type: 'away'; readonly reason: string }
  | { readonly type: 'refused'; readonly refusal: KafkaRefusal; readonly reason: string };

/** Connects once, logs in and requests metadata: this reveals whatever is wrong with TLS or SASL. */
export async function probeKafkaAccess(settings: KafkaSettings): Promise<KafkaAccess> {
  const client = new KafkaClient(settings, silentLogger);
  try {
    await client.refreshMetadata();
    return { type: 'granted' };
  } catch (error) {
    const facts = factsOf(error);
    const refusal = refusalOf(facts, settings);
    const reason = toError(error).message;
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
  // OpenSSL names the alert of the peer: certificate required, bad certificate, unknown ca.
  ['client_certificate_refused', ({ codes, messages }) => /alert.*(certificate|unknown ca)/i.test(codes + messages)],
  ['tls_wanted', ({ messages }) => messages.includes(SPEAKS_TLS)],
  ['tls_not_spoken', ({ codes }) => /EPROTO|WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/.test(codes)],
  // A plaintext listener closes the connection on a TLS hello, which it reads as a request of absurd size.
  [
    'tls_not_spoken',
    ({ codes, messages }, { ssl }) => isOn(ssl) && /ECONNRESET/.test(codes) && /before secure TLS/.test(messages),
  ],
  ['token_refused', ({ codes }) => codes.includes('TOKEN_REFUSED')],
  ['login_not_spoken', ({ codes }) => codes.includes('ILLEGAL_SASL_STATE')],
  [
    'mechanism_not_offered',
    ({ codes, messages }) => /UNSUPPORTED_SASL_MECHANISM|mechanism is not supported/.test(codes + messages),
  ],
  ['login_refused', ({ names }) => names.includes('KafkaJSSASLAuthenticationError')],
  // Such a listener sends its API versions to any client, and closes the connection at the first real request.
  ['login_wanted', ({ names }, { sasl }) => sasl === undefined && names.includes('KafkaJSConnectionClosedError')],
];

function isOn(ssl: KafkaSettings['ssl']): boolean {
  return ssl !== undefined && ssl !== false;
}

function refusalOf(facts: Facts, settings: KafkaSettings): KafkaRefusal | null {
  return REFUSALS.find(([, applies]) => applies(facts, settings))?.[0] ?? null;
}
