import { domainToUnicode } from 'node:url';
import { parseSubnets } from '../address/classify-address.js';
import type { Lookup } from '../address/dns-lookup.js';
import { createHostResolver } from '../address/resolve-host.js';
import { parseUrl } from './parse-url.js';

/** in bytes, since the URL is part of an index key. */
export const MAX_SUBSCRIBER_URL_BYTES = 2_048;

export type UrlRefusal =
  | 'too_long'
  | 'invalid'
  | 'scheme'
  | 'user_info'
  | 'fragment'
  | 'port'
  | 'unresolvable'
  | 'address_refused';

export type SubscriberUrl =
  /** `url.href` is the normalized form: IDN as punycode, IPv4 of any notation in dotted decimals. */
  | { readonly type: 'accepted'; readonly url: URL }
  | { readonly type: 'refused'; readonly reason: UrlRefusal; readonly message: string };

export interface UrlRules {
  /** Accepts http as well as https; development only. */
  readonly allowHttp: boolean;
}

/** The part of R-18 that the text alone decides. `checkSubscriberUrl` and each connection check where the host leads. */
export function parseSubscriberUrl(text: string, { allowHttp }: UrlRules): SubscriberUrl {
  if (Buffer.byteLength(text) > MAX_SUBSCRIBER_URL_BYTES) {
    return refused('too_long', `The URL must be at most ${String(MAX_SUBSCRIBER_URL_BYTES)} bytes long.`);
  }
  // The parser drops tabs, line ends and outer spaces and converts backslashes: the result would not be what was typed.
  const url = hasAmbiguousCharacter(text) ? null : parseUrl(text);
  if (!url) return refused('invalid', 'The URL must be a valid absolute URL.');
  // A host with and without a final dot is the same: one origin, one name in TLS and in the host header.
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')) {
    return refused(
      'scheme',
      allowHttp ? 'The URL must begin with https:// or http://.' : 'The URL must begin with https://.',
    );
  }
  // The parser adds missing slashes and removes superfluous ones.
  if (!/^[a-z]+:\/\/[^/]/i.test(text)) return refused('invalid', 'The URL must have its host right after ://.');
  if (url.username !== '' || url.password !== '' || hasUserInfo(text)) {
    return refused('user_info', 'The URL must not contain a user name or password.');
  }
  if (url.hash !== '' || text.endsWith('#')) return refused('fragment', 'The URL must not contain a fragment (#...).');
  if (!isHostName(url.hostname)) return refused('invalid', 'The host of the URL must be a valid name or address.');
  if (url.port === '0') return refused('port', 'The URL must not name port 0.');
  return { type: 'accepted', url };
}

export interface UrlCheckOptions extends UrlRules {
  /** CIDR subnets exempt from R-27; development only. */
  readonly allowedSubnets: readonly string[];
  /** CIDR subnets, and host names with all their subdomains, that are never called. */
  readonly denied?: readonly string[];
  readonly lookup?: Lookup;
  /** Default 5,000. */
  readonly lookupTimeoutMs?: number;
}

/**
 * Checks a URL at creation: the text, and that the host resolves to public addresses only. A host that cannot be
 * resolved is refused as well: a typo is better found now than after the first lost events.
 */
export async function checkSubscriberUrl(text: string, options: UrlCheckOptions): Promise<SubscriberUrl> {
  const parsed = parseSubscriberUrl(text, options);
  if (parsed.type === 'refused') return parsed;

  const resolve = createHostResolver({
    allowedSubnets: parseSubnets(options.allowedSubnets),
    denied: options.denied,
    lookup: options.lookup,
    lookupTimeoutMs: options.lookupTimeoutMs,
  });
  const resolution = await resolve(hostOf(parsed.url));
  switch (resolution.type) {
    case 'resolved':
      return parsed;
    case 'refused':
      return refused('address_refused', `The URL must lead to a public address: ${resolution.detail}.`);
    case 'unresolvable':
      return refused('unresolvable', `The host of the URL must be resolvable: ${resolution.detail}.`);
  }
}

/** The host in the form that resolvers and sockets expect: IPv6 without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

/** Whether a name can be queried; addresses pass. From Node 24 on, the URL parser leaves it to us to refuse bad Punycode. */
function isHostName(hostname: string): boolean {
  if (hostname.startsWith('[')) return true;
  return (
    hostname.length <= 253 &&
    hostname
      .split('.')
      .every((label) => label.length >= 1 && label.length <= 63 && !domainToUnicode(label).startsWith('xn--'))
  );
}

function hasAmbiguousCharacter(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- finds control characters
  return /[\s\\\u0000-\u001f\u007f]/.test(text);
}

/** Also finds empty user info, which the parser drops. */
function hasUserInfo(text: string): boolean {
  return /^[^/]*\/\/[^/?#]*@/.test(text);
}

function refused(reason: UrlRefusal, message: string): SubscriberUrl {
  return { type: 'refused', reason, message };
}
