import { useState } from 'react';
import { CopyButton } from '../shared/copy-button.js';
import { type Language, LANGUAGES, VERIFICATION_CODE } from './verification-code.js';

/** A signing secret, which cannot be read again, with code that verifies with it. */
export function SecretPanel({ secret }: { readonly secret: string }) {
  const [language, setLanguage] = useState<Language>('TypeScript');
  return (
    <section className="card" aria-labelledby="secret-title">
      <h2 id="secret-title">Signing secret</h2>
      <p>
        Save it now, as <code>WEBHOOK_SECRET</code> for instance: it is not shown again. Requests whose signature does
        not verify with it are not from Waypost.
      </p>
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
