import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { classifyAddress, parseSubnets } from './classify-address.js';

const NONE = parseSubnets([]);

const ALLOWED = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '93.184.215.14',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '168.63.129.15',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '203.0.114.0',
  '223.255.255.255',
  '::ffff:8.8.8.8',
  '2001:4860:4860::8888',
  '2606:2800:220:1::1',
  '2a00:1450:4001::200e',
  '2003::1',
  '2620:fe::fe',
  '64:ff9b::8.8.8.8',
  '64:ff9b::808:808',
];

const REFUSED: readonly (readonly [address: string, reason: string])[] = [
  ['0.0.0.0', 'unspecified'],
  ['0.0.0.1', 'this network'],
  ['0.255.255.255', 'this network'],
  ['10.0.0.0', 'private'],
  ['10.255.255.255', 'private'],
  ['100.64.0.0', 'shared address space'],
  ['100.100.100.200', 'shared address space'],
  ['100.127.255.255', 'shared address space'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['168.63.129.16', 'cloud metadata'],
  ['169.254.0.0', 'link-local'],
  ['169.254.169.254', 'link-local'],
  ['172.16.0.0', 'private'],
  ['172.31.255.255', 'private'],
  ['192.0.0.0', 'protocol assignment'],
  ['192.0.0.192', 'protocol assignment'],
  ['192.0.2.1', 'documentation'],
  ['192.88.99.1', '6to4'],
  ['192.168.0.0', 'private'],
  ['192.168.255.255', 'private'],
  ['198.18.0.0', 'benchmark'],
  ['198.19.255.255', 'benchmark'],
  ['198.51.100.7', 'documentation'],
  ['203.0.113.255', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.254', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['0:0:0:0:0:0:0:1', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['::ffff:10.1.2.3', 'private'],
  ['::ffff:169.254.169.254', 'link-local'],
  ['::ffff:0:127.0.0.1', 'reserved'],
  ['::7f00:1', 'IPv4-compatible'],
  ['::8.8.8.8', 'IPv4-compatible'],
  ['64:ff9b::127.0.0.1', 'loopback'],
  ['64:ff9b::a9fe:a9fe', 'link-local'],
  ['64:ff9b::192.88.99.1', '6to4'],
  ['64:ff9b:1::1', 'NAT64'],
  ['100::1', 'discard only'],
  ['2001::1', 'Teredo'],
  ['2001:0:ffff::', 'Teredo'],
  ['2001:2::1', 'benchmark'],
  ['2001:10::1', 'protocol assignment'],
  ['2001:db8::1', 'documentation'],
  ['2002:7f00:1::', '6to4'],
  ['2002:808:808::1', '6to4'],
  ['3fff::1', 'documentation'],
  ['4000::1', 'reserved'],
  ['5f00::1', 'segment routing'],
  ['fc00::1', 'private'],
  ['fd00:ec2::254', 'private'],
  ['fdff:ffff::1', 'private'],
  ['fe80::1', 'link-local'],
  ['febf::1', 'link-local'],
  ['fe80::1%eth0', 'scoped'],
  ['2606:2800:220:1::1%eth0', 'scoped'],
  ['fec0::1', 'private'],
  ['ff02::1', 'multicast'],
  ['', 'not an address'],
  ['localhost', 'not an address'],
  ['127.1', 'not an address'],
  ['0177.0.0.1', 'not an address'],
  ['0x7f000001', 'not an address'],
  ['2130706433', 'not an address'],
  ['[::1]', 'not an address'],
];

const ipv4 = fc.ipV4();
function isRefused(address: string, allowed = NONE): boolean {
  return classifyAddress(address, allowed).type === 'refused';
}

describe('classifyAddress (R-27)', () => {
  it.each(ALLOWED)('allows the public address %p', (address) => {
    expect(classifyAddress(address, NONE)).toEqual({ type: 'allowed' });
  });

  it.each(REFUSED)('refuses %p as %p', (address, reason) => {
    expect(classifyAddress(address, NONE)).toEqual({ type: 'refused', reason });
  });

  it('classifies every IPv4 address the same in its IPv6-mapped and its NAT64 form', () => {
    fc.assert(
      fc.property(ipv4, (address) => {
        expect(classifyAddress(`::ffff:${address}`, NONE)).toEqual(classifyAddress(address, NONE));
        expect(classifyAddress(`64:ff9b::${address}`, NONE)).toEqual(classifyAddress(address, NONE));
      }),
    );
  });

  it('refuses every IPv4 address in the compatible form', () => {
    fc.assert(
      fc.property(ipv4, (address) => {
        expect(isRefused(`::${address}`)).toBe(true);
      }),
    );
  });

  it('allows no IPv6 address outside the block that public addresses are allocated from', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff }), fc.ipV6(), (first, rest) => {
        fc.pre(first >> 13 !== 0b001 && !rest.includes('.') && rest.split(':').length === 8);
        const address = [first.toString(16), ...rest.split(':').slice(1)].join(':');
        // ::ffff:a.b.c.d is judged as IPv4.
        fc.pre(first !== 0);
        expect(isRefused(address)).toBe(true);
      }),
    );
  });

  it('allows only addresses in an allowed subnet, plain or IPv6-mapped', () => {
    const allowed = parseSubnets(['127.0.0.0/8', 'fd00:1::/32', '10.1.2.3/32']);

    for (const address of ['127.0.0.1', '127.9.9.9', '::ffff:127.0.0.1', 'fd00:1::5', '10.1.2.3']) {
      expect(classifyAddress(address, allowed)).toEqual({ type: 'allowed' });
    }
    for (const address of [
      '::1',
      '10.1.2.4',
      'fd00:2::5',
      '::7f00:1',
      '64:ff9b::127.0.0.1',
      '2002:7f00:1::',
      '127.0.0.1%lo',
    ]) {
      expect(isRefused(address, allowed)).toBe(true);
    }
  });

  it('does not let an allowed IPv6 subnet reach IPv4 through the mapped form', () => {
    expect(isRefused('::ffff:127.0.0.1', parseSubnets(['::/0']))).toBe(true);
  });
});

/**
 * The IANA special-purpose address registries of IPv4 and IPv6 with the multicast blocks, every entry, including nested ones: `[block, what it is for]`.
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

function isWithin(value: bigint, blocks: readonly Block[]): boolean {
  return blocks.some(([first, last]) => value >= first && value <= last);
}

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

  it('are the only refused IPv4 addresses: their neighbors are allowed', () => {
    const neighbors = ipv4Ranges
      .flatMap(([first, last]) => [first - 1n, last + 1n])
      .filter((value) => value >= 0n && value < 1n << 32n && !isWithin(value, ipv4Ranges));

    expect(neighbors.length).toBeGreaterThan(20);
    expect(neighbors.map(ipv4Of).filter((address) => isRefused(address))).toEqual([]);
  });

  it('are the only refused IPv4 addresses, for any address', () => {
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

  it('are the only refused addresses of the allocated IPv6 block, for any address', () => {
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

  it('are refused for any address in 6to4, local NAT64 or Teredo', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }), (inner) => {
        const wrapped = [
          valueOf('2002::') + (inner << 80n),
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
