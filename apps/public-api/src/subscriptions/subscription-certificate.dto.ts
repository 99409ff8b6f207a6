import { z } from 'zod';
import { type ClientCertificate, formatTime } from '@waypost/domain';
import { MAX_CLIENT_CERTIFICATES, MAX_CLIENT_CERTIFICATES_LENGTH, MAX_CLIENT_KEY_LENGTH } from '@waypost/egress';
import { dateTime, text } from '../endpoint/fields.js';

/** The rest is checked when it is sealed. */
function pem(maxLength: number) {
  return z
    .string()
    .min(1, 'must not be empty')
    .max(maxLength, `must be at most ${String(maxLength)} characters`)
    .regex(/^[\t\n\r\x20-\x7e]*$/, 'must be PEM, which is ASCII');
}

/** What a receiver is shown that asks for a certificate. */
export const clientCertificate = z
  .strictObject({
    certificates: pem(MAX_CLIENT_CERTIFICATES_LENGTH).meta({
      description: `PEM: the certificate, then its issuers in order, up to ${String(MAX_CLIENT_CERTIFICATES)} in all.`,
    }),
    privateKey: pem(MAX_CLIENT_KEY_LENGTH).meta({
      writeOnly: true,
      description:
        'PEM, not encrypted: RSA with 2,048 to 4,096 bits, P-256, P-384, P-521 or Ed25519. It is stored encrypted and never shown.',
    }),
  })
  .nullable()
  .meta({
    description:
      'Presented to a receiver whose https server asks for a client certificate, but not to the token server. It is replaced as a whole; null removes it.',
  });

export type CertificateBody = z.infer<typeof clientCertificate>;

export const shownCertificate = z.strictObject({
  subject: text,
  expiresAt: dateTime.meta({ description: 'When the first of the certificates expires. UTC, with milliseconds.' }),
});

export function showCertificate({ subject, expiresAt }: ClientCertificate): z.infer<typeof shownCertificate> {
  return { subject, expiresAt: formatTime(expiresAt) };
}
