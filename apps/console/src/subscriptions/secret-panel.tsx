import { useState } from 'react';
import { CopyButton } from '../shared/copy-button.js';
import { type Language, LANGUAGES, VERIFICATION_CODE } from './verification-code.js';

interface SecretPanelProps {
  readonly secret: string;
  /** The event types that it signs. */
  readonly eventTypes: readonly string[];
  /** Those at the same URL that keep the secret they have. */
  readonly others?: readonly string[];
}

/** A signing secret, which cannot be read again, with code that verifies with it. */
export function SecretPanel({ secret, eventTypes, others = [] }: SecretPanelProps) {
  const [language, setLanguage] = useState<Language>('TypeScript');
  return (
    <section className="card" aria-labelledby="secret-title">
      <h2 id="secret-title">Signing secret</h2>
      <p>
        Save it now, as <code>WEBHOOK_SECRET</code> for instance: it is not shown again. It signs the deliveries of{' '}
        {eventTypes.join(', ')}: those whose signature does not verify with it are not from Waypost.
      </p>
      {others.length > 0 && (
        <p>
          Deliveries of {others.join(', ')} to the same URL are not signed with it: your receiver still needs their
          secret.
        </p>
      )}
      <p>
        <code className="text">{secret}</code> <CopyButton text={secret}>Copy the secret</CopyButton>
      </p>
      <div role="group" aria-label="Language of the example" className="actions">
        {LANGUAGES.map((one) => (
          <button key={one} type="button" aria-pressed={one === language} onClick={() => setLanguage(one)}>
            {one}
          </button>
        ))}
      </div>
      <pre tabIndex={0}>{VERIFICATION_CODE[language]}</pre>
      <CopyButton text={VERIFICATION_CODE[language]}>Copy the code</CopyButton>
    </section>
  );
}
