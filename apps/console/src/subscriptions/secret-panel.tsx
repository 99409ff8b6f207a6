import { useState } from 'react';
import { CopyButton } from '../shared/copy-button.js';

const LANGUAGES = ['TypeScript', 'Python', 'Go'] as const;
type Language = (typeof LANGUAGES)[number];

/** A signing secret, which cannot be read again, with code that verifies with it. */
export function SecretPanel({ secret }: { readonly secret: string }) {
  const [language, setLanguage] = useState<Language>('TypeScript');
  return (
    <section className="card" aria-labelledby="secret-title">
      <h2 id="secret-title">Signing secret</h2>
      <p>
        Keep it now, as <code>WEBHOOK_SECRET</code> for instance: it is not shown again. Requests whose signature does
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
      <pre tabIndex={0}>{SNIPPETS[language]}</pre>
      <CopyButton text={SNIPPETS[language]}>Copy the code</CopyButton>
    </section>
  );
}

/** Standard Webhooks, which every delivery is signed by as well: its libraries exist for more languages. */
const SNIPPETS: Readonly<Record<Language, string>> = {
  TypeScript: `import { verify } from '@waypost/client';

const result = await verify(rawBody, request.headers, process.env.WEBHOOK_SECRET);
if (!result.ok) return response.status(401).end(result.reason);`,
  Python: `from standardwebhooks import Webhook

# Raises WebhookVerificationError.
event = Webhook(os.environ["WEBHOOK_SECRET"]).verify(raw_body, dict(request.headers))`,
  Go: `import standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

webhook, err := standardwebhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET"))
if err == nil {
    err = webhook.Verify(rawBody, request.Header)
}`,
};
