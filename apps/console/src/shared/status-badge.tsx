const MARKS: Readonly<Record<string, string>> = { delivered: '✓', failed: '✕', pending: '…', active: '✓', paused: 'Ⅱ' };

/** A mark and a word beside the color, for those who do not see it. */
export function StatusBadge({ status }: { readonly status: string }) {
  return (
    <span className={`badge ${status}`}>
      <span aria-hidden="true">{MARKS[status] ?? '•'}</span> {status}
    </span>
  );
}
