import { HEADER_NAME } from '@waypost/domain';
import { hostOf, parseSubscriberUrl, type UrlRules } from '../url/subscriber-url.js';

/** A header that cannot be sent. The message never contains a value. */
export class HeaderRefusedError {
  constructor(readonly message: string) {}
}

const OWN = new Set(['accept-encoding', 'content-length', 'host']);
/** These would contradict how the client handles the connection or the framing. */
const REFUSED = new Set(['connection', 'expect', 'keep-alive', 'transfer-encoding', 'upgrade']);
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;
const USER_AGENT = 'user-agent';
/** Callers use a handful of names; beyond this many, names are checked each time. */
const MAX_CACHED_NAMES = 256;

type NameVerdict = 'sent' | 'left_out' | 'refused';

/** Returns the header lines that follow `headStart`, up to and including the empty line. */
export type HeadWriter = (headers: Readonly<Record<string, string>>, bodyBytes: number) => string | HeaderRefusedError;

export function createHeadWriter(): HeadWriter {
  const verdicts = new Map<string, NameVerdict>();

  function verdictOn(name: string): NameVerdict {
    const known = verdicts.get(name);
    if (known !== undefined) return known;
    const verdict = classifyName(name);
    if (verdicts.size < MAX_CACHED_NAMES) verdicts.set(name, verdict);
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

function classifyName(name: string): NameVerdict {
  const lower = name.toLowerCase();
  if (!HEADER_NAME.test(name) || REFUSED.has(lower)) return 'refused';
  return OWN.has(lower) ? 'left_out' : 'sent';
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 60));
}

/** Where a URL leads, and the part of the request head that follows from it. */
export interface RequestTarget {
  readonly type: 'target';
  readonly origin: string;
  /** `https:` or `http:`. */
  readonly protocol: string;
  /** IPv6 without brackets. */
  readonly hostname: string;
  readonly port: string;
  /** The request line and the client's own headers; each line ends in CR LF. */
  readonly headStart: string;
}

export interface RefusedTarget {
  readonly type: 'refused';
  readonly message: string;
}

export type TargetReader = (url: string) => RequestTarget | RefusedTarget;

/** Parses each distinct URL once, while it is among the most recently used. */
export function createTargetReader(rules: UrlRules, maxKept: number): TargetReader {
  // Two generations: entries unused while the younger one filled are dropped with the older one.
  let younger = new Map<string, RequestTarget>();
  let older = new Map<string, RequestTarget>();

  return (url) => {
    const known = younger.get(url);
    if (known !== undefined) return known;
    const target = older.get(url) ?? readTarget(url, rules);
    if (target.type === 'refused') return target;
    if (younger.size >= maxKept / 2) {
      older = younger;
      younger = new Map();
    }
    younger.set(url, target);
    return target;
  };
}

function readTarget(text: string, rules: UrlRules): RequestTarget | RefusedTarget {
  const parsed = parseSubscriberUrl(text, rules);
  if (parsed.type === 'refused') return { type: 'refused', message: parsed.message };
  const { origin, protocol, host, port, pathname, search } = parsed.url;
  return {
    type: 'target',
    origin,
    protocol,
    hostname: hostOf(parsed.url),
    port,
    headStart:
      `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n` +
      'connection: keep-alive\r\naccept-encoding: identity\r\n',
  };
}
