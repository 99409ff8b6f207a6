import type { Subscription } from '@waypost/client';
import type { CertificateSettings } from './subscription-settings.js';

interface CertificateFieldsProps {
  readonly certificate: CertificateSettings;
  readonly shownCertificate: Subscription['clientCertificate'];
  readonly onChange: (certificate: CertificateSettings) => void;
}

/** What a receiver is shown that asks for a certificate. */
export function CertificateFields({ certificate, shownCertificate, onChange }: CertificateFieldsProps) {
  function set(change: Partial<CertificateSettings>): void {
    onChange({ ...certificate, ...change });
  }

  return (
    <>
      <label>
        Client certificate, for an endpoint with mutual TLS
        <select
          value={certificate.type}
          onChange={({ target }) => set({ type: target.value as CertificateSettings['type'] })}
        >
          <option value="none">none</option>
          {shownCertificate !== undefined && <option value="kept">{shownCertificate.subject}</option>}
          <option value="new">{shownCertificate === undefined ? 'a certificate and its key' : 'another one'}</option>
        </select>
      </label>
      {certificate.type === 'new' && (
        <>
          <label>
            Certificate in PEM, followed by its issuers
            <textarea
              required
              rows={4}
              spellCheck={false}
              placeholder="-----BEGIN CERTIFICATE-----"
              value={certificate.certificates}
              onChange={({ target }) => set({ certificates: target.value })}
            />
          </label>
          <label>
            Private key in PEM (stored encrypted)
            <textarea
              required
              rows={4}
              spellCheck={false}
              autoComplete="off"
              placeholder="-----BEGIN PRIVATE KEY-----"
              value={certificate.privateKey}
              onChange={({ target }) => set({ privateKey: target.value })}
            />
          </label>
        </>
      )}
    </>
  );
}
