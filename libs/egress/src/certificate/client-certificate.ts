import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

/** PEM texts for a subscriber's server that demands a certificate in the TLS handshake. */
export interface CertificateAndKey {
  /** The client's own certificate first, each followed by its issuer. */
  readonly certificates: string;
  readonly privateKey: string;
}

/** Presented in a TLS handshake. Connections and TLS sessions are shared only between equal ids. */
export interface ClientIdentity extends CertificateAndKey {
  readonly id: string;
}

export type ClientCertificateCheck =
  | {
      readonly type: 'accepted';
      /** Just the certificates, and the key as PKCS #8. */
      readonly pair: CertificateAndKey;
      /** The subject of the client's own certificate: `CN=waypost, O=Example`. */
      readonly subject: string;
      /** When the first of the certificates expires, epoch milliseconds. */
      readonly expiresAt: number;
    }
  | { readonly type: 'refused'; readonly part: keyof CertificateAndKey; readonly message: string };

export const MAX_CLIENT_CERTIFICATES_LENGTH = 16_384;
export const MAX_CLIENT_KEY_LENGTH = 8_192;

export const MAX_CLIENT_CERTIFICATES = 5;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const ENCRYPTED_KEY = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: *4,ENCRYPTED/m;
/** A handshake signs on the event loop: a key of 16,384 bits would hold up every other delivery for a second. */
const RSA_BITS = { min: 2_048, max: 4_096 };
const CURVES: readonly (string | undefined)[] = ['prime256v1', 'secp384r1', 'secp521r1'];

export function clientIdentityOf({ certificates, privateKey }: CertificateAndKey): ClientIdentity {
  const id = createHash('sha256').update(certificates).update('\0').update(privateKey).digest('base64url');
  return { id, certificates, privateKey };
}

/** Whether a server can be shown this certificate now. No message repeats any part of the key. */
export function checkClientCertificate(
  { certificates, privateKey }: CertificateAndKey,
  nowMs: number,
): ClientCertificateCheck {
  const chain = readChain(certificates);
  if (typeof chain === 'string') return refused('certificates', chain);
  const [own] = chain;
  const problem = chainProblem(chain, nowMs);
  if (problem !== null) return refused('certificates', problem);
  const key = readKey(privateKey);
  if (typeof key === 'string') return refused('privateKey', key);
  if (!own.checkPrivateKey(key)) return refused('privateKey', 'is not the key of the first certificate');
  const pair = {
    certificates: chain.map(String).join(''),
    privateKey: key.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
  if (!isUsable(pair))
    return refused('certificates', 'cannot be used for TLS: its signature algorithm may be too weak');
  const subject = own.subject.split('\n').join(', ');
  return { type: 'accepted', pair, subject, expiresAt: Math.min(...chain.map(endOf)) };
}

function refused(part: keyof CertificateAndKey, message: string): ClientCertificateCheck {
  return { type: 'refused', part, message };
}

type Chain = readonly [X509Certificate, ...X509Certificate[]];

function readChain(text: string): Chain | string {
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length > MAX_CLIENT_CERTIFICATES)
    return `must have at most ${String(MAX_CLIENT_CERTIFICATES)} certificates`;
  try {
    const [own, ...issuers] = blocks.map((block) => new X509Certificate(block));
    if (own !== undefined) return [own, ...issuers];
  } catch {
    // Not a certificate.
  }
  return 'must be one or more certificates in PEM';
}

function chainProblem(chain: Chain, nowMs: number): string | null {
  const misplaced = chain.findIndex((one, place) => place > 0 && chain[place - 1]?.checkIssued(one) !== true);
  if (misplaced > 0) return `has at place ${String(misplaced + 1)} a certificate that did not issue the one before it`;
  const early = chain.find(({ validFrom }) => Date.parse(validFrom) > nowMs);
  if (early !== undefined) return `is not valid before ${iso(Date.parse(early.validFrom))}`;
  const late = chain.find((one) => endOf(one) <= nowMs);
  return late === undefined ? null : `expired at ${iso(endOf(late))}`;
}

function readKey(text: string): KeyObject | string {
  if (ENCRYPTED_KEY.test(text)) return 'is encrypted: send it without a passphrase, it is stored sealed';
  let key: KeyObject;
  try {
    key = createPrivateKey(text);
  } catch {
    return 'must be a private key in PEM';
  }
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return modulusLength >= RSA_BITS.min && modulusLength <= RSA_BITS.max
        ? key
        : `has ${String(modulusLength)} bits: RSA keys of ${String(RSA_BITS.min)} to ${String(RSA_BITS.max)} bits are taken`;
    case 'ec':
      return CURVES.includes(namedCurve) ? key : 'must be on the curve P-256, P-384 or P-521';
    case 'ed25519':
      return key;
    default:
      return 'must be an RSA, EC or Ed25519 key';
  }
}

/** Asks the library that will use it. */
function isUsable({ certificates, privateKey }: CertificateAndKey): boolean {
  try {
    createSecureContext({ cert: certificates, key: privateKey });
    return true;
  } catch {
    return false;
  }
}

function endOf({ validTo }: X509Certificate): number {
  return Date.parse(validTo);
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
