import { describe, expect, it } from '@jest/globals';
import { parseSubnets } from './classify-address.js';
import type { Lookup } from './dns-lookup.js';
import { createHostResolver } from './resolve-host.js';

function build(lookup: Lookup, denied: readonly string[] = []) {
  /** A process that has run for a while. */
  let passedMs = 86_400_000;
  let lookups = 0;
  const resolve = createHostResolver({
    allowedSubnets: parseSubnets(['10.0.0.0/8']),
    denied,
    lookup: (name) => {
      lookups += 1;
      return lookup(name);
    },
    lookupTimeoutMs: 30,
    monotonicMs: () => passedMs,
  });
  return {
    resolve,
    lookups: () => lookups,
    passMs: (ms: number) => {
      passedMs += ms;
    },
  };
}

function failing(code: string): Lookup {
  return () => Promise.reject(Object.assign(new Error('x'), { code }));
}

/** The first 64 are allowed, the next is not. */
function addresses(count: number) {
  return Array.from({ length: count }, (_, index) => {
    const address = index === 64 ? '192.168.0.1' : `10.0.0.${String(index)}`;
    return { address, family: 4 };
  });
}

describe('createHostResolver', () => {
  it.each<[string, Lookup, number]>([
    ['does not exist', failing('ENOTFOUND'), 5_000],
    ['has no address', failing('ENODATA'), 5_000],
    ['has an empty list of addresses', () => Promise.resolve([]), 5_000],
    ['has more than 64 addresses', () => Promise.resolve(addresses(65)), 60_000],
    ['has servers that fail', failing('ESERVFAIL'), 1_000],
    ['has servers that are silent', failing('ETIMEOUT'), 1_000],
    ['is not resolved in time', () => new Promise(() => undefined), 1_000],
  ])('does not query a name again at once that %s', async (_case, lookup, rememberedMs) => {
    const { resolve, lookups, passMs } = build(lookup);

    const first = await resolve('dead.example');
    passMs(rememberedMs - 1);
    expect(await resolve('dead.example')).toEqual(first);
    expect([first.type, lookups()]).toEqual(['unresolvable', 1]);

    passMs(1);
    await resolve('dead.example');
    await resolve('other.example');
    expect(lookups()).toBe(3);
  });

  it('takes up to 64 addresses, and says of more only that they are too many (R-26)', async () => {
    const { resolve } = build((name) => Promise.resolve(addresses(Number(name.split('.')[0]))));

    expect(await resolve('64.example')).toEqual({ type: 'resolved', addresses: addresses(64) });
    expect(await resolve('65.example')).toEqual({
      type: 'unresolvable',
      detail: '65.example has too many addresses',
    });
  });

  it.each([
    ['a denied host', 'hooks.rival.example', '93.184.215.14'],
    ['a host below a denied one', 'eu.hooks.rival.example', '93.184.215.14'],
    ['a denied address', 'hooks.example', '198.18.5.1'],
    ['a denied address of an allowed subnet', 'hooks.example', '10.9.0.1'],
    ['the NAT64 form of a denied address', 'hooks.example', '64:ff9b::a09:1'],
    ['a denied IPv6 address', 'hooks.example', '2606:2800::1'],
  ])('refuses %s', async (_case, host, address) => {
    const denied = ['Hooks.Rival.example', '198.18.0.0/15', '10.9.0.0/16', '2606:2800::/32'];
    const { resolve } = build(() => Promise.resolve([{ address, family: address.includes(':') ? 6 : 4 }]), denied);

    const refused = await resolve(host);
    expect(refused).toEqual({ type: 'refused', detail: expect.stringContaining('(denied)') });
  });

  it('refuses no host whose name only ends like a denied one', async () => {
    const { resolve } = build(() => Promise.resolve([{ address: '10.1.0.1', family: 4 }]), ['rival.example']);

    expect(await resolve('arrival.example')).toMatchObject({ type: 'resolved' });
  });

  it('remembers a refusal for a second, so that attempts for it do not become as many queries, and no addresses', async () => {
    const answers = ['192.168.0.1', '93.184.215.14', '93.184.215.15'];
    const { resolve, lookups, passMs } = build(() => Promise.resolve([{ address: answers.shift() ?? '', family: 4 }]));

    const refused = { type: 'refused', detail: 'moving.example is not at a public address (private)' };
    expect(await resolve('moving.example')).toEqual(refused);
    passMs(999);
    expect(await resolve('moving.example')).toEqual(refused);
    expect(lookups()).toBe(1);
    passMs(1);
    expect(await resolve('moving.example')).toMatchObject({ addresses: [{ address: '93.184.215.14' }] });
    expect(await resolve('moving.example')).toMatchObject({ addresses: [{ address: '93.184.215.15' }] });
  });
});
