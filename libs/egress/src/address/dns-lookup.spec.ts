import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { settlesWithin } from '../../../../test/support/until.js';
import { type DnsAnswer, type DnsQuestion, type DnsServer, startDnsServer } from '../testing/dns-server.js';
import { createDnsLookup, type DnsLookupOptions } from './dns-lookup.js';

const directory = mkdtempSync(join(tmpdir(), 'waypost-hosts-'));
const hostsPath = join(directory, 'hosts');
afterAll(() => {
  rmSync(directory, { recursive: true });
});

const servers: DnsServer[] = [];
afterEach(async () => {
  writeFileSync(hostsPath, '');
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function build(answer: (question: DnsQuestion) => DnsAnswer, options: DnsLookupOptions = {}) {
  const server = await startDnsServer(answer);
  servers.push(server);
  const lookup = createDnsLookup({ servers: [server.address], hostsPath, queryTimeoutMs: 300, ...options });
  return { lookup, server };
}

function at(...addresses: string[]): DnsAnswer {
  return { type: 'addresses', addresses };
}

describe('createDnsLookup', () => {
  it('returns the addresses of both families, IPv4 first', async () => {
    const { lookup } = await build(() => at('2606:2800:220:1::1', '93.184.215.14'));

    expect(await lookup('hooks.example')).toEqual([
      { address: '93.184.215.14', family: 4 },
      { address: '2606:2800:220:1::1', family: 6 },
    ]);
  });

  it('follows an alias', async () => {
    const { lookup } = await build(() => ({ type: 'addresses', alias: 'edge.example', addresses: ['10.0.0.9'] }));

    expect(await lookup('hooks.example')).toEqual([{ address: '10.0.0.9', family: 4 }]);
  });

  it('queries exactly the given name, without a search domain', async () => {
    const { lookup, server } = await build(() => ({ type: 'no such name' }));

    await expect(lookup('backend')).rejects.toMatchObject({ code: 'ENOTFOUND' });

    expect([...new Set(server.questions.map(({ name }) => name))]).toEqual(['backend']);
  });

  it.each<[string, DnsAnswer, string]>([
    ['the name does not exist', { type: 'no such name' }, 'ENOTFOUND'],
    ['the name has no address', at(), 'ENODATA'],
    ['the name server fails', { type: 'failure' }, 'ESERVFAIL'],
    ['the name server is silent', { type: 'silence' }, 'ETIMEOUT'],
  ])('rejects with a code when %s', async (_case, answer, code) => {
    const { lookup } = await build(() => answer, { queryTimeoutMs: 60 });

    await expect(lookup('hooks.example')).rejects.toMatchObject({ code });
  });

  it('rejects when the answer is garbage', async () => {
    const { lookup } = await build(() => ({ type: 'garbage' }), { queryTimeoutMs: 60 });

    await expect(lookup('hooks.example')).rejects.toThrow();
  });

  it.each<[string, DnsAnswer]>([
    ['never answered', { type: 'silence' }],
    ['answered with a failure', { type: 'failure' }],
  ])('returns one family when the question for the other one is %s', async (_case, other) => {
    const { lookup } = await build(({ family }) => (family === 4 ? at('93.184.215.14') : other), {
      queryTimeoutMs: 5_000,
      otherFamilyMs: 50,
    });

    const addresses = lookup('hooks.example');
    expect(await settlesWithin(4_500, addresses)).toBe(true);
    expect(await addresses).toEqual([{ address: '93.184.215.14', family: 4 }]);
  });

  it('waits only a moment for the other family, as the attempt has 5 s for everything (R-20)', async () => {
    const { lookup } = await build(({ family }) => (family === 4 ? at('93.184.215.14') : { type: 'silence' }), {
      queryTimeoutMs: 5_000,
    });

    expect(await settlesWithin(2_000, lookup('hooks.example'))).toBe(true);
  });

  it('waits for nothing more once both families are known', async () => {
    const { lookup } = await build(() => at('2606:2800:220:1::1', '93.184.215.14'), { otherFamilyMs: 60_000 });

    expect(await lookup('hooks.example')).toHaveLength(2);
  });

  it.each<[string, DnsAnswer]>([
    ['fail', { type: 'failure' }],
    ['are silent', { type: 'silence' }],
  ])('reads again which name servers there are when they %s', async (_case, answer) => {
    const dead = await startDnsServer(() => answer);
    servers.push(dead);
    const nameServers = [dead.address];
    const { lookup, server } = await build(() => at('93.184.215.14'), { servers: nameServers });
    await expect(lookup('hooks.example')).rejects.toThrow();

    nameServers[0] = server.address;

    expect(await lookup('hooks.example')).toEqual([{ address: '93.184.215.14', family: 4 }]);
  });

  it('resolves other names while many wait for a dead name server', async () => {
    const { lookup } = await build(({ name }) =>
      name === 'alive.example' ? at('93.184.215.14') : { type: 'silence' },
    );
    const dead = Array.from({ length: 50 }, (_, index) => lookup(`dead-${String(index)}.example`).catch(() => 'dead'));
    const first = await Promise.race([lookup('alive.example'), ...dead]);

    expect(first).toEqual([{ address: '93.184.215.14', family: 4 }]);
    expect(new Set(await Promise.all(dead))).toEqual(new Set(['dead']));
  });

  it('reads names from the hosts file first, and notices its changes', async () => {
    let passedMs = 0;
    const { lookup, server } = await build(() => at('93.184.215.14'), { monotonicMs: () => passedMs });
    writeFileSync(hostsPath, '# comment\n10.1.2.3 Receiver.Example alias # more\n::1 receiver.example\nnonsense x\n');

    expect(await lookup('receiver.example')).toEqual([
      { address: '10.1.2.3', family: 4 },
      { address: '::1', family: 6 },
    ]);
    expect(server.questions).toHaveLength(0);

    writeFileSync(hostsPath, '');
    passedMs += 5_000;
    expect(await lookup('receiver.example')).toEqual([{ address: '93.184.215.14', family: 4 }]);
  });

  it.each(['localhost', 'LOCALHOST', 'receiver.localhost'])('resolves %p without a query', async (name) => {
    const { lookup, server } = await build(() => at('93.184.215.14'));

    expect(await lookup(name)).toEqual([{ address: '127.0.0.1', family: 4 }]);
    expect(server.questions).toHaveLength(0);
  });
});
