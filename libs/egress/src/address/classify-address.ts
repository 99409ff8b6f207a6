import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type AddressRefusal, PUBLIC_IPV6, SPECIAL_IPV4, SPECIAL_IPV6 } from './special-ranges.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A parsed CIDR subnet; made by `parseSubnets`. */
export type Subnet = readonly [network: Address, prefixLength: number];

export type AddressVerdict =
  { readonly type: 'allowed' } | { readonly type: 'refused'; readonly reason: AddressRefusal };

/** @throws Error when a text is not a subnet; callers pass checked configuration. */
export function parseSubnets(texts: readonly string[]): readonly Subnet[] {
  return texts.map((text) => ipaddr.parseCIDR(text));
}

/**
 * Whether a connection may be made to this address: public unicast addresses only, plus whatever lies in a
 * subnet that the operator allows. An IPv4 address in its IPv6-mapped form is judged as the IPv4 address that it is;
 * no other wrapping is opened, so that an allowed subnet lets in nothing but itself.
 *
 * @param text in the canonical forms that resolvers and WHATWG URLs produce; anything else is refused
 */
export function classifyAddress(text: string, allowed: readonly Subnet[]): AddressVerdict {
  if (isIP(text) === 0) return refused('not an address');
  // A zone names an interface of this host: never a public address.
  if (text.includes('%')) return refused('scoped');
  const given = ipaddr.parse(withoutDottedTail(text));
  const address = given instanceof ipaddr.IPv6 && given.isIPv4MappedAddress() ? given.toIPv4Address() : given;
  if (allowed.some((subnet) => isWithin(address, subnet))) return { type: 'allowed' };

  const reason = address instanceof ipaddr.IPv4 ? refusalOf(address, specialIpv4) : refusalOfIpv6(address);
  return reason === undefined ? { type: 'allowed' } : refused(reason);
}

const specialIpv4 = SPECIAL_IPV4.map(([text, reason]) => ({ subnet: ipaddr.parseCIDR(text), reason }));
const specialIpv6 = SPECIAL_IPV6.map(([text, reason]) => ({ subnet: ipaddr.parseCIDR(text), reason }));
const publicIpv6 = ipaddr.parseCIDR(PUBLIC_IPV6);

/** ipaddr.js reads the compatible form ::a.b.c.d as the mapped one, ::ffff:a.b.c.d: give it groups only. */
function withoutDottedTail(text: string): string {
  const tail = /(?<=:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  if (tail === null) return text;
  const [first = 0, second = 0, third = 0, fourth = 0] = tail.slice(1).map(Number);
  const groups = [first * 256 + second, third * 256 + fourth].map((group) => group.toString(16));
  return text.slice(0, tail.index) + groups.join(':');
}

function refusalOfIpv6(address: Address): AddressRefusal | undefined {
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
