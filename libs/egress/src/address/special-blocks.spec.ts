import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { classifyAddress, parseSubnets } from './classify-address.js';

const NONE = parseSubnets([]);

/**
 * The IANA special-purpose address registries of IPv4 and IPv6 with the multicast blocks, every entry, also those that
 * lie in others: `[block, what it is for]`.
 */
const IPV4_BLOCKS: readonly (readonly [string, string])[] = [
  ['0.0.0.0/8', 'this network'],
  ['0.0.0.0/32', 'this host'],
  ['10.0.0.0/8', 'private use'],
  ['100.64.0.0/10', 'shared address space'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link local'],
  ['172.16.0.0/12', 'private use'],
  ['192.0.0.0/24', 'protocol assignments'],
  ['192.0.0.0/29', 'service continuity'],
  ['192.0.0.8/32', 'dummy address'],
  ['192.0.0.9/32', 'port control anycast'],
  ['192.0.0.10/32', 'relay anycast'],
  ['192.0.0.170/31', 'NAT64 discovery'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'AS112'],
  ['192.52.193.0/24', 'multicast tunnelling'],
  ['192.88.99.0/24', '6to4 relay anycast'],
  ['192.168.0.0/16', 'private use'],
  ['192.175.48.0/24', 'AS112 by delegation'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
  ['255.255.255.255/32', 'limited broadcast'],
];

const IPV6_BLOCKS: readonly (readonly [string, string])[] = [
  ['::1/128', 'loopback'],
  ['::/128', 'unspecified'],
  ['::/96', 'IPv4-compatible'],
  ['::ffff:0:0:0/96', 'IPv4-translated'],
  ['64:ff9b::/96', 'NAT64'],
  ['64:ff9b:1::/48', 'NAT64, local use'],
  ['100::/64', 'discard only'],
  ['100:0:0:1::/64', 'dummy prefix'],
  ['2001::/23', 'protocol assignments'],
  ['2001::/32', 'Teredo'],
  ['2001:1::1/128', 'port control anycast'],
  ['2001:1::2/128', 'relay anycast'],
  ['2001:1::3/128', 'service registration anycast'],
  ['2001:2::/48', 'benchmarking'],
  ['2001:3::/32', 'multicast tunnelling'],
  ['2001:4:112::/48', 'AS112'],
  ['2001:10::/28', 'ORCHID'],
  ['2001:20::/28', 'ORCHIDv2'],
  ['2001:30::/28', 'drone identification'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'AS112 by delegation'],
  ['3fff::/20', 'documentation'],
  ['5f00::/16', 'segment routing'],
  ['fc00::/7', 'unique local'],
  ['fe80::/10', 'link local'],
  ['fec0::/10', 'site local'],
  ['ff00::/8', 'multicast'],
  // Everything that is not given out.
  ['200::/7', 'reserved'],
  ['400::/6', 'reserved'],
  ['1000::/4', 'reserved'],
  ['4000::/2', 'reserved'],
  ['8000::/1', 'reserved'],
];

const METADATA = [
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  'fd00:ec2::254',
];

type Block = readonly [first: bigint, last: bigint];

function valueOf(address: string): bigint {
  return ipaddr
    .parse(address)
    .toByteArray()
    .reduce((value, byte) => value * 256n + BigInt(byte), 0n);
}

function rangeOf(block: string, bits: number): Block {
  const [network = '', prefix = ''] = block.split('/');
  const first = valueOf(network);
  return [first, first + (1n << BigInt(bits - Number(prefix))) - 1n];
}

function ipv4Of(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.');
}

function ipv6Of(value: bigint): string {
  return Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16)).join(
    ':',
  );
}

const isRefused = (address: string): boolean => classifyAddress(address, NONE).type === 'refused';
const isWithin = (value: bigint, blocks: readonly Block[]): boolean =>
  blocks.some(([first, last]) => value >= first && value <= last);

const ipv4Ranges = IPV4_BLOCKS.map(([block]) => rangeOf(block, 32));
const azureAgent = rangeOf('168.63.129.16/32', 32);

describe('special-purpose blocks', () => {
  it.each(IPV4_BLOCKS)('%s (%s) is refused from its first to its last address, in both forms', (block: string) => {
    const [first, last] = rangeOf(block, 32);
    for (const value of [first, (first + last) / 2n, last]) {
      expect([ipv4Of(value), isRefused(ipv4Of(value))]).toEqual([ipv4Of(value), true]);
      expect(isRefused(`::ffff:${ipv4Of(value)}`)).toBe(true);
    }
  });

  it.each(IPV6_BLOCKS)('%s (%s) is refused from its first to its last address', (block: string) => {
    const [first, last] = rangeOf(block, 128);
    for (const value of [first, (first + last) / 2n, last]) {
      expect([ipv6Of(value), isRefused(ipv6Of(value))]).toEqual([ipv6Of(value), true]);
    }
  });

  it.each(METADATA)('the metadata service at %s is refused', (address) => {
    expect(isRefused(address)).toBe(true);
  });

  it('are all that is refused of IPv4: their neighbours are allowed', () => {
    const neighbours = ipv4Ranges
      .flatMap(([first, last]) => [first - 1n, last + 1n])
      .filter((value) => value >= 0n && value < 1n << 32n && !isWithin(value, ipv4Ranges));

    expect(neighbours.length).toBeGreaterThan(20);
    expect(neighbours.map(ipv4Of).filter(isRefused)).toEqual([]);
  });

  it('are all that is refused of IPv4, for any address', () => {
    const nearOne = fc
      .tuple(fc.constantFrom(...ipv4Ranges.flat()), fc.bigInt({ min: -3n, max: 3n }))
      .map(([edge, step]) => BigInt.asUintN(32, edge + step));
    fc.assert(
      fc.property(fc.oneof(nearOne, fc.bigInt({ min: 0n, max: (1n << 32n) - 1n })), (value) => {
        expect([ipv4Of(value), isRefused(ipv4Of(value))]).toEqual([
          ipv4Of(value),
          isWithin(value, [...ipv4Ranges, azureAgent]),
        ]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('are all that is refused of the IPv6 block that is given out, for any address', () => {
    const ranges = IPV6_BLOCKS.map(([block]) => rangeOf(block, 128));
    const [first, last] = rangeOf('2000::/3', 128);
    fc.assert(
      fc.property(fc.bigInt({ min: first, max: last }), (value) => {
        expect([ipv6Of(value), isRefused(ipv6Of(value))]).toEqual([ipv6Of(value), isWithin(value, ranges)]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('are refused with a zone, as is every address with one', () => {
    for (const zone of ['eth0', '1', 'lo', '25eth0']) {
      for (const address of ['fe80::1', '::1', 'ff02::1', '2606:2800:220:1::1']) {
        expect(isRefused(`${address}%${zone}`)).toBe(true);
      }
    }
  });

  it('are refused whatever inner address 6to4, NAT64 or Teredo carry', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }), (inner) => {
        const wrapped = [
          valueOf('2002::') + (inner << 80n),
          valueOf('64:ff9b::') + inner,
          valueOf('64:ff9b:1::') + inner,
          // Teredo carries its client's address with all bits turned.
          valueOf('2001::') + (inner ^ 0xffffffffn),
          inner,
        ];
        expect(wrapped.map(ipv6Of).filter((address) => !isRefused(address))).toEqual([]);
      }),
    );
  });
});
