/** Headers that cannot be sent. The message never holds a value. */
export class HeaderRefusedError {
  constructor(readonly message: string) {}
}

const OWN = new Set(['accept-encoding', 'content-length', 'host']);
/** What they say about the connection or the framing would not be what is done. */
const REFUSED = new Set(['connection', 'expect', 'keep-alive', 'transfer-encoding', 'upgrade']);
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;
const USER_AGENT = 'user-agent';
/** Callers use a handful of names; more are judged each time. */
const MAX_JUDGED_NAMES = 256;

type NameVerdict = 'sent' | 'left_out' | 'refused';

/** Gives the lines of a request's head behind `headBegin`, up to the empty line. */
export type HeadWriter = (headers: Readonly<Record<string, string>>, bodyBytes: number) => string | HeaderRefusedError;

export function createHeadWriter(): HeadWriter {
  const judged = new Map<string, NameVerdict>();

  function verdictOn(name: string): NameVerdict {
    const known = judged.get(name);
    if (known !== undefined) return known;
    const verdict = judgeName(name);
    if (judged.size < MAX_JUDGED_NAMES) judged.set(name, verdict);
    return verdict;
  }

  return (headers, bodyBytes) => {
    let lines = '';
    let hasUserAgent = false;
    for (const name of Object.keys(headers)) {
      const value = headers[name] ?? '';
      const verdict = verdictOn(name);
      if (verdict === 'refused') return new HeaderRefusedError(`the header ${shown(name)} cannot be sent`);
      if (verdict === 'left_out') continue;
      if (UNSENDABLE.test(value))
        return new HeaderRefusedError(`the value of the header ${shown(name)} cannot be sent`);
      hasUserAgent ||= name === USER_AGENT;
      lines += `${name}: ${value}\r\n`;
    }
    if (!hasUserAgent) lines += `${USER_AGENT}: Waypost\r\n`;
    return `${lines}content-length: ${bodyBytes}\r\n\r\n`;
  };
}

function judgeName(name: string): NameVerdict {
  const lower = name.toLowerCase();
  if (!NAME.test(name) || REFUSED.has(lower)) return 'refused';
  return OWN.has(lower) ? 'left_out' : 'sent';
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 60));
}
