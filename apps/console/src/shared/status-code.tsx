import { statusCodeText } from './status-code-text.js';

interface StatusCodeProps {
  readonly code: number | undefined;
  /** In place of a code: why there is none. */
  readonly error: string | undefined;
}

/** What came back, short enough for a column. */
export function StatusCode({ code, error }: StatusCodeProps) {
  const isAccepted = code !== undefined && code >= 200 && code <= 299;
  if (code === undefined && error === undefined) return <span className="hint">–</span>;
  return (
    <span className={isAccepted ? '' : 'bad'} title={code === undefined ? undefined : statusCodeText(code)}>
      {code ?? error}
    </span>
  );
}
