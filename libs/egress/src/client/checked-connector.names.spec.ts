import { afterEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { flushed, until } from '../../../../test/support/until.js';
import { createDnsLookup } from '../address/dns-lookup.js';
import { type DnsAnswer, type DnsQuestion, type DnsServer, startDnsServer } from '../testing/dns-server.js';
import { type Answer, type RawServer, startRawServer } from '../testing/raw-server.js';
import type { LookUpPlaces } from './checked-connector.js';
import { createEgressClient, type EgressClientOptions } from './egress-client.js';

/** The only address that may be reached; 127.0.0.2 stands for internal addresses. */
const PUBLIC = '127.0.0.1';
const INNER = '127.0.0.2';
const OWNER = { id: 'subscription-1', fleetId: 'fleet-1' };
const KEPT_OPEN: Answer = (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
const CLOSED: Answer = (socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface World {
  readonly dns: DnsServer;
  readonly server: RawServer;
  /** Listens on the same port of the inner address. */
  readonly inner: RawServer;
  readonly post: (name: string, deadlineMs?: number) => Promise<string>;
}

/** A client that resolves by a real name server over UDP and connects by real sockets. */
async function buildClient(
  answer: (question: DnsQuestion) => DnsAnswer,
  options: Partial<EgressClientOptions> & { respond?: Answer; queryTimeoutMs?: number } = {},
): Promise<World> {
  const { respond = KEPT_OPEN, queryTimeoutMs = 300, ...clientOptions } = options;
  const dns = await startDnsServer(answer);
  const server = await startRawServer(respond);
  const inner = await startRawServer(respond, undefined, { address: INNER, port: server.port });
  const lookup = createDnsLookup({ servers: [dns.address], hostsPath: '/nowhere', queryTimeoutMs, otherFamilyMs: 100 });
  const client = createEgressClient({ allowedSubnets: [`${PUBLIC}/32`], allowHttp: true, lookup, ...clientOptions });
  cleanups.push(dns.stop, server.stop, inner.stop, () => client.close());
  const post = async (name: string, deadlineMs = 2_000): Promise<string> => {
    const url = `http://${name}:${String(server.port)}/`;
    const result = await client.post({ url, headers: {}, body: '{}', deadlineMs, owner: OWNER });
    if (result.type === 'response') return String(result.statusCode);
    return result.type === 'error' ? result.errorCode : result.type;
  };
  return { dns, server, inner, post };
}

function at(...addresses: string[]): DnsAnswer {
  return { type: 'addresses', addresses };
}

describe('a name with good and bad addresses', () => {
  it.each([
    ['a bad one last', [PUBLIC, INNER]],
    ['a bad one first', [INNER, PUBLIC]],
    ['a bad one of the other family', [PUBLIC, 'fd00::1']],
    ['the mapped form of a bad one', [PUBLIC, '::ffff:10.0.0.1']],
    ['the unspecified address', [PUBLIC, '0.0.0.0']],
    ['many good ones and a bad one', [...Array.from({ length: 12 }, (_, index) => `9.9.9.${String(index)}`), INNER]],
  ])('is refused with %s', async (_case, addresses) => {
    const { post, server, inner } = await buildClient(() => at(...addresses));

    expect(await post('mixed.example')).toBe('address_refused');
    expect(server.connections).toHaveLength(0);
    expect(inner.connections).toHaveLength(0);
  });

  it('is refused when the bad one is behind an alias', async () => {
    const { post } = await buildClient(() => ({
      type: 'addresses',
      alias: 'inner.example',
      addresses: ['169.254.169.254'],
    }));

    expect(await post('hooks.example')).toBe('address_refused');
  });
});

describe('a lookup that waits for its turn (R-26)', () => {
  it('is not made when its request has been given up meanwhile', async () => {
    const turns: (() => void)[] = [];
    const lookUps: LookUpPlaces = {
      during: async (_owner, _host, work) => {
        await new Promise<void>((turn) => turns.push(turn));
        return work();
      },
    };
    const lookup = jest.fn(() => Promise.resolve([{ address: PUBLIC, family: 4 }]));
    const { post } = await buildClient(() => at(PUBLIC), { lookUps, lookup, connectTimeoutMs: 50 });
    expect(await post('hooks.example')).toBe('timeout');
    for (const turn of turns) turn();
    await flushed();
    expect(turns).toHaveLength(1);
    expect(lookup).not.toHaveBeenCalled();
  });

  it('is one of the owner of the request; an address needs none', async () => {
    const asked: unknown[] = [];
    const lookUps: LookUpPlaces = {
      during: (owner, host, work) => {
        asked.push([owner, host]);
        return work();
      },
    };
    const { post } = await buildClient(() => at(PUBLIC), { lookUps });
    expect(await post('hooks.example')).toBe('200');
    expect(await post(PUBLIC)).toBe('200');
    expect(asked).toEqual([[OWNER, 'hooks.example']]);
  });
});

describe('a name whose answer changes (R-27)', () => {
  it('between lookup and connect has no effect: the connection goes to the checked address', async () => {
    const { post, dns, server, inner } = await buildClient(({ number }) => at(number === 1 ? PUBLIC : INNER));

    expect(await post('rebinding.example')).toBe('200');

    expect(dns.questions.map(({ family, number }) => [family, number]).sort()).toEqual([
      [4, 1],
      [6, 1],
    ]);
    expect(server.connections).toHaveLength(1);
    expect(inner.connections).toHaveLength(0);
  });

  it('is refused at the next connection', async () => {
    const { post, inner } = await buildClient(({ number }) => at(number === 1 ? PUBLIC : INNER), { respond: CLOSED });

    expect(await post('rebinding.example')).toBe('200');
    expect(await post('rebinding.example')).toBe('address_refused');
    expect(inner.connections).toHaveLength(0);
  });

  it('never leads to the internal address, in whatever order the answers arrive', async () => {
    const answers = fc.array(fc.subarray([PUBLIC, INNER, 'fd00::1'], { minLength: 1 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(answers, async (sequence) => {
        const answerOf = (number: number) => sequence[(number - 1) % sequence.length] ?? [];
        let passedMs = 0;
        const monotonicMs = () => performance.now() + passedMs;
        const options = { respond: CLOSED, monotonicMs };
        const { post, inner } = await buildClient(({ number }) => at(...answerOf(number)), options);

        const results: string[] = [];
        for (let each = 0; each < sequence.length; each += 1) {
          results.push(await post('rebinding.example'));
          // A refusal is remembered for that long.
          passedMs += 1_000;
        }

        expect(inner.connections).toHaveLength(0);
        expect(results).toEqual(
          sequence.map((addresses) => (addresses.every((one) => one === PUBLIC) ? '200' : 'address_refused')),
        );
      }),
      { numRuns: 25 },
    );
  });

  it('keeps its open connection, but only for a bounded age', async () => {
    let addresses = [PUBLIC];
    const { post, server, dns } = await buildClient(() => at(...addresses), { maxConnectionAgeMs: 500 });
    expect(await post('moving.example')).toBe('200');
    addresses = [INNER];

    await flushed();
    expect(await post('moving.example')).toBe('200');
    expect(server.connections).toHaveLength(1);
    expect(dns.questions).toHaveLength(2);

    await until(async () => (await post('moving.example')) === 'address_refused');
    expect(server.connections).toHaveLength(1);
  });

  it('is followed to its new address even while it is constantly busy', async () => {
    let addresses = [PUBLIC];
    const world = await buildClient(() => at(...addresses), {
      maxConnectionAgeMs: 100,
      allowedSubnets: [`${PUBLIC}/32`, `${INNER}/32`],
    });
    const startedAt = performance.now();
    while (world.inner.requests.length === 0) {
      expect(await world.post('moving.example')).toBe('200');
      addresses = [INNER];
      // A connection is free for the next request one iteration of the event loop after its response.
      await new Promise((resolve) => setImmediate(resolve));
    }

    expect(world.inner.requests.length).toBeGreaterThan(0);
    expect(world.server.connections).toHaveLength(1);
    expect(performance.now() - startedAt).toBeGreaterThan(99);
  });
});

describe('connections of names at one address', () => {
  it('are not shared: each was checked for its own name', async () => {
    const { post, server } = await buildClient(({ name }) => at(name === 'good.example' ? PUBLIC : INNER));

    expect(await post('good.example')).toBe('200');
    expect(await post('evil.example')).toBe('address_refused');
    expect(server.connections).toHaveLength(1);
  });
});

describe('a name service that fails', () => {
  it.each<[string, DnsAnswer]>([
    ['knows no such name', { type: 'no such name' }],
    ['knows no address', at()],
    ['reports a failure', { type: 'failure' }],
    ['answers garbage', { type: 'garbage' }],
    ['is silent', { type: 'silence' }],
  ])('gives dns_error when it %s', async (_case, answer) => {
    const { post } = await buildClient(() => answer, { queryTimeoutMs: 60 });

    expect(await post('hooks.example')).toBe('dns_error');
  });

  it('is a timeout when it is silent past the deadline, and is queried again a second later', async () => {
    let answer: DnsAnswer = { type: 'silence' };
    const { post, dns } = await buildClient(() => answer, { connectTimeoutMs: 2_000, queryTimeoutMs: 400 });

    expect(await post('hooks.example', 50)).toBe('timeout');
    await until(() => dns.questions.length === 2);
    answer = at(PUBLIC);
    await until(async () => (await post('hooks.example')) === '200');
  });
});
