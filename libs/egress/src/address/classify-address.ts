import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Why an address is refused. A closed set: subscribers see it and the history stores it. */
export type AddressRefusal =
  | 'unspecified'
  | 'this network'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'shared address space'
  | 'protocol assignment'
  | 'documentation'
  | 'benchmark'
  | '6to4'
  | 'NAT64'
  | 'Teredo'
  | 'IPv4-compatible'
  | 'multicast'
  | 'broadcast'
  | 'cloud metadata'
  | 'segment routing'
  | 'discard only'
  | 'reserved'
  | 'scoped'
  | 'denied'
  | 'not an address';

type Range = readonly [subnet: string, reason: AddressRefusal];

/** The special-purpose registry of IPv4 (RFC 6890 and successors); the first match names the reason. */
const SPECIAL_IPV4: readonly Range[] = [
  ['0.0.0.0/32', 'unspecified'],
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared address space'],
  ['127.0.0.0/8', 'loopback'],
  // Azure's host agent: looks public, but only machines inside that cloud can reach it.
  ['168.63.129.16/32', 'cloud metadata'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'protocol assignment'],
  ['192.0.2.0/24', 'documentation'],
  // Anycast: the nearest host responds, which may be an internal one.
  ['192.31.196.0/24', 'protocol assignment'],
  ['192.52.193.0/24', 'protocol assignment'],
  ['192.88.99.0/24', '6to4'],
  ['192.168.0.0/16', 'private'],
  ['192.175.48.0/24', 'protocol assignment'],
  ['198.18.0.0/15', 'benchmark'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['255.255.255.255/32', 'broadcast'],
  ['240.0.0.0/4', 'reserved'],
];

/** Special ranges inside 2000::/3, and reasons for some ranges that are refused anyway because they lie outside it. */
const SPECIAL_IPV6: readonly Range[] = [
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['::/96', 'IPv4-compatible'],
  // Embedded addresses cannot be found: each network chooses where they are.
  ['64:ff9b:1::/48', 'NAT64'],
  ['100::/64', 'discard only'],
  ['100:0:0:1::/64', 'discard only'],
  ['2001::/32', 'Teredo'],
  ['2001:2::/48', 'benchmark'],
  ['2001::/23', 'protocol assignment'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'protocol assignment'],
  ['3fff::/20', 'documentation'],
  ['5f00::/16', 'segment routing'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'private'],
  ['ff00::/8', 'multicast'],
];

/** DNS64 maps names with only IPv4 addresses into this range; the network translates them back. */
const NAT64 = '64:ff9b::/96';

/** The only block from which public IPv6 addresses are allocated: everything else is refused, known or not. */
const PUBLIC_IPV6 = '2000::/3';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A parsed CIDR subnet; use `parseSubnets`. */
export type Subnet = readonly [network: Address, prefixLength: number];

export type AddressVerdict =
  | { readonly type: 'allowed' }
  | { readonly type: 'refused'; readonly reason: AddressRefusal };

/** @throws Error if a text is not a subnet; callers pass checked configuration. */
export function parseSubnets(texts: readonly string[]): readonly Subnet[] {
  return texts.map((text) => ipaddr.parseCIDR(text));
}

/**
 * whether a connection may be made to this address: public unicast addresses only, plus the subnets that the
 * operator allows. An IPv4-mapped IPv6 address is classified as its IPv4 address, and so is a NAT64 address, but the latter
 * without the allowed subnets, so that they admit nothing but themselves. No other embedding is unwrapped.
 *
 * @param text in the canonical form that resolvers and WHATWG URLs produce; anything else is refused
 * @param denied refused in any form, even if allowed
 */
export function classifyAddress(
  text: string,
  allowed: readonly Subnet[],
  denied: readonly Subnet[] = [],
): AddressVerdict {
  if (isIP(text) === 0) return refused('not an address');
  // A zone names an interface of this host: never a public address.
  if (text.includes('%')) return refused('scoped');
  const given = ipaddr.parse(withoutDottedTail(text));
  const address = given instanceof ipaddr.IPv6 && given.isIPv4MappedAddress() ? given.toIPv4Address() : given;
  const reached = address instanceof ipaddr.IPv6 && isWithin(address, nat64) ? embeddedIpv4(address) : address;
  if (denied.some((subnet) => isWithin(address, subnet) || isWithin(reached, subnet))) return refused('denied');
  if (allowed.some((subnet) => isWithin(address, subnet))) return { type: 'allowed' };

  const reason = address instanceof ipaddr.IPv4 ? refusalOf(address, specialIpv4) : refusalOfIpv6(address);
  return reason === undefined ? { type: 'allowed' } : refused(reason);
}

const specialIpv4 = SPECIAL_IPV4.map(([text, reason]) => ({ subnet: ipaddr.parseCIDR(text), reason }));
const specialIpv6 = SPECIAL_IPV6.map(([text, reason]) => ({ subnet: ipaddr.parseCIDR(text), reason }));
const nat64 = ipaddr.parseCIDR(NAT64);
const publicIpv6 = ipaddr.parseCIDR(PUBLIC_IPV6);

/** ipaddr.js reads the IPv4-compatible form ::a.b.c.d as the mapped ::ffff:a.b.c.d, so it gets groups only. */
function withoutDottedTail(text: string): string {
  const tail = /(?<=:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  if (tail === null) return text;
  const [first = 0, second = 0, third = 0, fourth = 0] = tail.slice(1).map(Number);
  const groups = [first * 256 + second, third * 256 + fourth].map((group) => group.toString(16));
  return text.slice(0, tail.index) + groups.join(':');
}

function embeddedIpv4(address: ipaddr.IPv6): ipaddr.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(-4));
}

function refusalOfIpv6(address: ipaddr.IPv6): AddressRefusal | undefined {
  if (isWithin(address, nat64)) return refusalOf(embeddedIpv4(address), specialIpv4);
  return refusalOf(address, specialIpv6) ?? (isWithin(address, publicIpv6) ? undefined : 'reserved');
}

function refusalOf(address: Address, ranges: typeof specialIpv4): AddressRefusal | undefined {
  return ranges.find(({ subnet }) => isWithin(address, subnet))?.reason;
}

function isWithin(address: Address, [network, prefixLength]: Subnet): boolean {
  return address.kind() === network.kind() && address.match(network, prefixLength);
}

function refused(reason: AddressRefusal): AddressVerdict {
  return { type: 'refused', reason };
}
