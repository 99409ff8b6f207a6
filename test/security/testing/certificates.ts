import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

/** PEM texts: the authority, and a certificate that it signed with its private key (PKCS #8). */
export interface Identity {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  readonly ca: string;
  /** A certificate for a server on the loopback interface, or for a client of this name. */
  issue(name: string, options?: { readonly ip?: string }): Promise<Identity>;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;

/** A certificate authority that lives as long as the test. */
export async function createAuthority(name: string, now = Date.now()): Promise<Authority> {
  x509.cryptoProvider.set(webcrypto);
  const validity = { notBefore: new Date(now - DAY_MS), notAfter: new Date(now + DAY_MS) };
  const generateKeys = () => webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const keys = await generateKeys();
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    name: `CN=${name}`,
    keys,
    serialNumber: '01',
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  const ca = authority.toString('pem');
  let serial = 1;

  return {
    ca,
    async issue(subject, { ip = '127.0.0.1' } = {}) {
      const own = await generateKeys();
      serial += 1;
      const certificate = await x509.X509CertificateGenerator.create({
        ...validity,
        subject: `CN=${subject}`,
        issuer: authority.subject,
        serialNumber: serial.toString(16).padStart(2, '0'),
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: ALGORITHM,
        extensions: [
          new x509.BasicConstraintsExtension(false, undefined, true),
          new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: ip }]),
        ],
      });
      const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', own.privateKey);
      return { ca, cert: certificate.toString('pem'), key: x509.PemConverter.encode(pkcs8, 'PRIVATE KEY') };
    },
  };
}
