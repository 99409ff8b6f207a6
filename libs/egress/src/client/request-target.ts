import { parseSubscriberUrl, type UrlRules } from '../url/subscriber-url.js';

/** Where a URL leads, and the part of the request that it decides. */
export interface RequestTarget {
  readonly type: 'target';
  readonly origin: string;
  /** `https:` or `http:`. */
  readonly protocol: string;
  /** IPv6 without its brackets. */
  readonly hostname: string;
  readonly port: string;
  /** Request line and the headers that are the client's own; each line ends in CR LF. */
  readonly headBegin: string;
}

export interface RefusedTarget {
  readonly type: 'refused';
  readonly message: string;
}

export type TargetReader = (url: string) => RequestTarget | RefusedTarget;

/** Reads each distinct URL text once, as long as it is among the most recently used ones. */
export function createTargetReader(rules: UrlRules, maxKept: number): TargetReader {
  // Two generations: what was not used while the younger one filled is dropped with the older one.
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
  const { origin, protocol, hostname, host, port, pathname, search } = parsed.url;
  return {
    type: 'target',
    origin,
    protocol,
    hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
    port,
    headBegin:
      `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n` +
      'connection: keep-alive\r\naccept-encoding: identity\r\n',
  };
}
