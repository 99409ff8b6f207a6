/** OpenSSL's words for a certificate that cannot be traced back to a trusted authority, or is out of its time. */
const UNTRUSTED = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const MENDS: readonly (readonly [applies: (code: string, message: string) => boolean, mend: string])[] = [
  [
    (code) => UNTRUSTED.has(code),
    'the certificate of the server is not trusted: name its certificate authority with sslrootcert=/path/ca.pem in DATABASE_URL',
  ],
  [
    (code) => code === 'ERR_TLS_CERT_ALTNAME_INVALID',
    'the certificate of the server is for another host: use the host name that it has in DATABASE_URL',
  ],
  [
    (_, message) => /does not support SSL connections/.test(message),
    'the server has no TLS: switch it on there, or remove sslmode from DATABASE_URL',
  ],
  [
    (code, message) => code === '28000' && /no encryption|SSL off/i.test(message),
    'the server wants TLS: add sslmode=verify-full to DATABASE_URL',
  ],
  [
    (code, message) => /ALERT|alert/.test(code + message) && /cert|unknown ca/i.test(code + message),
    'the server does not accept the certificate of this client: check sslcert and sslkey in DATABASE_URL',
  ],
  [(code) => code === '28P01' || code === '28000', 'check the user and the password in DATABASE_URL'],
  [(code) => code === '3D000', 'make the database, or name another one in DATABASE_URL'],
];

/**
 * Says what to do about a database that was reached and refuses us, or that we refuse; null when the error is something
 * else, such as an outage. Waiting does not help against any of these.
 */
export function databaseRefusal(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null;
  const { code, message } = error as Partial<Record<'code' | 'message', unknown>>;
  const [codeText, messageText] = [code, message].map((given) => (typeof given === 'string' ? given : '')) as [
    string,
    string,
  ];
  const mend = MENDS.find(([applies]) => applies(codeText, messageText))?.[1];
  return mend === undefined ? null : `The database cannot be used (${messageText}): ${mend}.`;
}
