import { createHostResolver, type Lookup } from '../address/resolve-host.js';
import { parseSubnets } from '../address/classify-address.js';

export const MAX_URL_LENGTH = 2_048;

export type UrlRefusal =
  'too_long' | 'invalid' | 'scheme' | 'user_info' | 'fragment' | 'port' | 'unresolvable' | 'address_refused';

export type SubscriberUrl =
  /** `url.href` is the normalised form: IDN as punycode, IPv4 in whatever notation as four decimals. */
  | { readonly type: 'accepted'; readonly url: URL }
  /** `message` is a sentence for the subscriber. */
  | { readonly type: 'refused'; readonly reason: UrlRefusal; readonly message: string };

export interface UrlRules {
  /** Accepts http next to https; development only. */
  readonly allowHttp: boolean;
}

/** The part of R-18 that the text alone decides. Where the host leads is for `checkSubscriberUrl` and each connection. */
export function parseSubscriberUrl(text: string, { allowHttp }: UrlRules): SubscriberUrl {
  if (text.length > MAX_URL_LENGTH) {
    return refused('too_long', `The URL must be at most ${String(MAX_URL_LENGTH)} characters long.`);
  }
  // The parser drops tabs, line ends and outer spaces and turns backslashes: what it would call is not what was read.
  if (hasAmbiguousCharacter(text) || !URL.canParse(text))
    return refused('invalid', 'The URL must be a valid absolute URL.');
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')) {
    return refused(
      'scheme',
      allowHttp ? 'The URL must begin with https:// or http://.' : 'The URL must begin with https://.',
    );
  }
  if (url.username !== '' || url.password !== '') {
    return refused('user_info', 'The URL must not hold a user name or password.');
  }
  if (url.hash !== '' || text.endsWith('#')) return refused('fragment', 'The URL must not hold a fragment (#...).');
  if (url.port === '0') return refused('port', 'The URL must not name port 0.');
  return { type: 'accepted', url };
}

export interface UrlCheckOptions extends UrlRules {
  /** CIDR subnets that may be reached in spite of R-27; development only. */
  readonly allowedSubnets: readonly string[];
  /** Default: the system's resolver. */
  readonly lookup?: Lookup;
  /** Default 5,000. */
  readonly lookupTimeoutMs?: number;
}

/**
 * The check at creation: the text, and that the host resolves to nothing but public addresses. A host that
 * cannot be resolved is refused as well: a typing error is better found now than after the first lost events.
 */
export async function checkSubscriberUrl(text: string, options: UrlCheckOptions): Promise<SubscriberUrl> {
  const parsed = parseSubscriberUrl(text, options);
  if (parsed.type === 'refused') return parsed;

  const resolve = createHostResolver({ allowedSubnets: parseSubnets(options.allowedSubnets), lookup: options.lookup });
  const host = hostOf(parsed.url);
  const resolution = await firstOf(resolve(host), options.lookupTimeoutMs ?? 5_000);
  switch (resolution?.type) {
    case 'resolved':
      return parsed;
    case 'refused':
      return refused('address_refused', `The URL must lead to a public address: ${resolution.detail}.`);
    case 'unresolvable':
      return refused('unresolvable', `The host of the URL must be resolvable: ${resolution.detail}.`);
    case undefined:
      return refused('unresolvable', `The host of the URL must be resolvable: ${host} was not resolved in time.`);
  }
}

/** The host as resolvers and sockets want it: IPv6 without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

function hasAmbiguousCharacter(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return /[\s\\\u0000-\u001f\u007f]/.test(text);
}

function refused(reason: UrlRefusal, message: string): SubscriberUrl {
  return { type: 'refused', reason, message };
}

async function firstOf<T>(answer: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, undefined);
  });
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
