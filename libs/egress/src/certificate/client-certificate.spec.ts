import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type Certificate, type LeafOptions, makeAuthority } from '../../../../test/support/certificates.js';
import { checkClientCertificate, clientIdentityOf } from './client-certificate.js';

const DAY_MS = 86_400_000;
const authority = makeAuthority();
const between = authority.intermediate();
const own = between.issue({ subjectAltName: 'DNS:waypost.example', commonName: 'waypost/O=Example' });

function check(certificates: string, privateKey: string, nowMs = Date.now()) {
  return checkClientCertificate({ certificates, privateKey }, nowMs);
}

function checkLeaf(options: Partial<LeafOptions>, nowMs?: number) {
  const leaf = authority.issue({ subjectAltName: 'DNS:waypost.example', ...options });
  return check(leaf.cert, leaf.key, nowMs);
}

function encrypted({ key }: Certificate, type: 'pkcs8' | 'sec1'): string {
  const options = { type, format: 'pem', cipher: 'aes-256-cbc', passphrase: 'open sesame' } as const;
  return createPrivateKey(key).export(options) as string;
}

describe('a client certificate of a subscription (R-19)', () => {
  it('is taken with its issuers, and shows its subject and when the first of them expires', () => {
    const answer = check(own.cert + between.cert + authority.cert, own.key);
    const ends = [own, between, authority].map(({ cert }) => Date.parse(new X509Certificate(cert).validTo));
    expect(answer).toMatchObject({ subject: 'CN=waypost, O=Example', expiresAt: Math.min(...ends) });
  });

  it('keeps nothing but the certificates and the key of what it was given', () => {
    const answer = check(`Bag Attributes\n${own.cert}\n\nsecond:\n${between.cert}`, `a comment\n${own.key}`);
    expect(answer).toMatchObject({ pair: { certificates: own.cert + between.cert, privateKey: own.key } });
  });

  it.each<[string, string[]]>([
    ['an RSA key of 2,048 bits', ['-newkey', 'rsa:2048']],
    ['an RSA key of 4,096 bits', ['-newkey', 'rsa:4096']],
    ['a key on P-384', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp384r1']],
    ['an Ed25519 key', ['-newkey', 'ed25519']],
  ])('is taken with %s', (_case, newKey) => expect(checkLeaf({ newKey })).toMatchObject({ type: 'accepted' }));

  it.each<[string, string[], string]>([
    ['an RSA key that is too weak', ['-newkey', 'rsa:1024'], '1024 bits'],
    ['an RSA key that takes long to sign (R-26)', ['-newkey', 'rsa:4224'], '4224 bits'],
    ['a curve that servers do not know', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp256k1'], 'P-256'],
  ])('is refused with %s', (_case, newKey, message) => {
    const expected = { type: 'refused', part: 'privateKey', message: expect.stringContaining(message) as unknown };
    expect(checkLeaf({ newKey })).toMatchObject(expected);
  });

  it.each([
    ['a key of another certificate', authority.issue({ subjectAltName: 'DNS:a.example' }).key, 'is not the key'],
    ['an encrypted key', encrypted(own, 'pkcs8'), 'is encrypted'],
    ['an encrypted key of the older form', encrypted(own, 'sec1'), 'is encrypted'],
    ['a public key', new X509Certificate(own.cert).publicKey.export({ type: 'spki', format: 'pem' }), 'private key'],
    ['a certificate for a key', own.cert, 'private key'],
    ['no PEM', 'open-sesame', 'private key'],
    ['a key cut short', own.key.slice(0, 100), 'private key'],
  ])('is refused with %s, which the message does not repeat', (_case, key, message) => {
    const answer = check(own.cert, String(key));
    expect(answer).toMatchObject({ type: 'refused', part: 'privateKey' });
    expect(answer).toHaveProperty('message', expect.stringContaining(message));
    expect(JSON.stringify(answer)).not.toContain(String(key));
  });

  it.each([
    ['no PEM', 'certificate', 'in PEM'],
    ['a key in its place', own.key, 'in PEM'],
    ['a certificate cut short', own.cert.slice(0, 200), 'in PEM'],
    ['what is none inside', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', 'in PEM'],
    ['an issuer left out', own.cert + authority.cert, 'at place 2'],
    ['its issuer first', between.cert + own.cert, 'at place 2'],
    ['six certificates', own.cert.repeat(6), 'at most 5'],
  ])('is refused with %s', (_case, certificates, message) => {
    expect(check(certificates, own.key)).toEqual({
      type: 'refused',
      part: 'certificates',
      message: expect.stringContaining(message) as unknown,
    });
  });

  it.each([
    ['after its end', 3 * DAY_MS, /^expired at \d{4}-/],
    ['before its start', -DAY_MS, /^is not valid before \d{4}-/],
  ])('is refused %s', (_case, laterMs, message) => {
    const expected = { type: 'refused', part: 'certificates', message: expect.stringMatching(message) as unknown };
    expect(checkLeaf({}, Date.now() + laterMs)).toEqual(expected);
  });

  it('is refused when an issuer in it has expired', () => {
    const { validTo } = new X509Certificate(between.cert);
    const long = between.issue({ subjectAltName: 'DNS:waypost.example', validDays: 9 });
    expect(check(long.cert + between.cert, long.key, Date.parse(validTo) - 1)).toMatchObject({ type: 'accepted' });
    expect(check(long.cert + between.cert, long.key, Date.parse(validTo))).toMatchObject({ type: 'refused' });
  });
});

describe('the identity of a client certificate', () => {
  it('is one for the same certificates and key, and another as soon as either differs', () => {
    const other = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const id = (certificates: string, privateKey: string) => clientIdentityOf({ certificates, privateKey }).id;
    expect(id(own.cert, own.key)).toBe(id(own.cert, own.key));
    expect(new Set([id(own.cert, own.key), id(own.cert + between.cert, own.key), id(own.cert, other)]).size).toBe(3);
  });
});
