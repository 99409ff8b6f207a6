import { useId, useState } from 'react';
import { copyText } from './copy-text.js';

/** Copies a text, and says that it did. Where the browser does not let it, the reader gets the text to do it by hand. */
export function CopyButton({ text, children }: { readonly text: string; readonly children: string }) {
  const id = useId();
  const [outcome, setOutcome] = useState<'copied' | 'failed' | null>(null);

  async function copy(): Promise<void> {
    // It is not there on a page without TLS, whatever its type says.
    const clipboard = navigator.clipboard as Clipboard | undefined;
    if (await copyText(text, clipboard)) {
      setOutcome('copied');
      setTimeout(() => setOutcome(null), 2_000);
    } else setOutcome('failed');
  }

  return (
    <>
      <button type="button" onClick={() => void copy()} aria-live="polite">
        {outcome === 'copied' ? 'Copied' : children}
      </button>
      {outcome === 'failed' && (
        <span className="uncopied">
          <span role="alert" id={id} className="problem">
            Could not be copied: select the text
          </span>
          <textarea readOnly rows={1} aria-labelledby={id} value={text} onFocus={(event) => event.target.select()} />
        </span>
      )}
    </>
  );
}
