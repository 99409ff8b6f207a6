import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
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
  ['64:ff9b::127.0.0.1', 'NAT64'],
  ['64:ff9b::8.8.8.8', 'NAT64'],
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
const isRefused = (address: string, allowed = NONE): boolean => classifyAddress(address, allowed).type === 'refused';

describe('classifyAddress (R-27)', () => {
  it.each(ALLOWED)('allows the public address %p', (address) => {
    expect(classifyAddress(address, NONE)).toEqual({ type: 'allowed' });
  });

  it.each(REFUSED)('refuses %p as %p', (address, reason) => {
    expect(classifyAddress(address, NONE)).toEqual({ type: 'refused', reason });
  });

  it('judges every IPv4 address the same in its IPv6-mapped form', () => {
    fc.assert(
      fc.property(ipv4, (address) => {
        expect(classifyAddress(`::ffff:${address}`, NONE)).toEqual(classifyAddress(address, NONE));
      }),
    );
  });

  it('refuses every IPv4 address in the forms that other machines unwrap', () => {
    fc.assert(
      fc.property(ipv4, (address) => {
        expect([`::${address}`, `64:ff9b::${address}`].filter((wrapped) => !isRefused(wrapped))).toEqual([]);
      }),
    );
  });

  it('allows no IPv6 address outside of the block from which public ones are given out', () => {
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

  it('allows what lies in an allowed subnet, plain or IPv6-mapped, and nothing beside it', () => {
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
