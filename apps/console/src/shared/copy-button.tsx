import { useState } from 'react';

/** Copies a text, and says that it did. */
export function CopyButton({ text, children }: { readonly text: string; readonly children: string }) {
  const [isCopied, setIsCopied] = useState(false);

  async function copy(): Promise<void> {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), 2_000);
  }

  return (
    <button type="button" onClick={() => void copy()} aria-live="polite">
      {isCopied ? 'Copied' : children}
    </button>
  );
}
