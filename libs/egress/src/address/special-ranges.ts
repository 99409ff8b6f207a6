/** Why an address may not be reached. Closed: it is shown to subscribers and kept in the history. */
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
  | 'not an address';

type Range = readonly [subnet: string, reason: AddressRefusal];

/** The special-purpose registry of IPv4 (RFC 6890 and successors); the first match names the reason. */
export const SPECIAL_IPV4: readonly Range[] = [
  ['0.0.0.0/32', 'unspecified'],
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'shared address space'],
  ['127.0.0.0/8', 'loopback'],
  // The agent of one large cloud sits at a public-looking address that only its own machines can reach.
  ['168.63.129.16/32', 'cloud metadata'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'protocol assignment'],
  ['192.0.2.0/24', 'documentation'],
  // Anycast: whoever is nearest answers, which may be a machine inside.
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

/** What is special inside 2000::/3, and names for some of what is refused anyway for being outside of it. */
export const SPECIAL_IPV6: readonly Range[] = [
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['::/96', 'IPv4-compatible'],
  // Translated by the network into an IPv4 address that nobody here has judged.
  ['64:ff9b::/96', 'NAT64'],
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

/** The only block from which public IPv6 addresses are given out: everything else is refused, known or not. */
export const PUBLIC_IPV6 = '2000::/3';
