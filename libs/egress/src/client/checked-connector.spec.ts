import { once } from 'node:events';
import { connect as connectTcp, Socket, type TcpNetConnectOpts } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ATTEMPT_DEADLINE_MS } from '@waypost/domain';
import { flushed, until } from '../../../../test/support/until.js';
import { parseSubnets } from '../address/classify-address.js';
import { createDnsLookup, type Lookup } from '../address/dns-lookup.js';
import { createHostResolver } from '../address/resolve-host.js';
import { type DnsAnswer, type DnsQuestion, type DnsServer, startDnsServer } from '../testing/dns-server.js';
import { type Answer, type RawServer, startConnectionServer, startRawServer } from '../testing/raw-server.js';
import {
  type CheckedConnector,
  type CheckedConnectorOptions,
  type ConnectTarget,
  createCheckedConnector,
} from './checked-connector.js';
import { createEgressClient, type EgressClientOptions } from './egress-client.js';

const DISTANT_ROUND_TRIP_MS = 500;

type OpenTcp = NonNullable<CheckedConnectorOptions['openTcp']>;
type Outcome = { readonly error: Error & { code?: string } } | { readonly socket: Socket };

const servers: RawServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function serve(): Promise<RawServer> {
  const server = await startConnectionServer((socket) => socket.resume());
  servers.push(server);
  return server;
}

function build(options: {
  lookup?: Lookup;
  openTcp?: (options: TcpNetConnectOpts) => Socket;
  connectTimeoutMs?: number;
}) {
  const {
    lookup = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
    openTcp,
    connectTimeoutMs = 2_000,
  } = options;
  return createCheckedConnector({
    resolve: createHostResolver({
      allowedSubnets: parseSubnets(['127.0.0.0/8', '::1/128']),
      lookup,
      lookupTimeoutMs: 200,
    }),
    connectTimeoutMs,
    ...(openTcp === undefined ? {} : { openTcp: openTcp as OpenTcp }),
  });
}

function connect(connector: CheckedConnector, hostname: string, port: number): Promise<Outcome> {
  const target: ConnectTarget = { hostname, protocol: 'http:', port: String(port) };
  return new Promise((resolve) => {
    connector.connect(target, (...[error, socket]: Parameters<Parameters<CheckedConnector['connect']>[1]>) => {
      resolve(error === null ? { socket } : { error });
    });
  });
}

function errorOf(outcome: Outcome): Error & { code?: string } {
  if ('error' in outcome) return outcome.error;
  outcome.socket.destroy();
  throw new Error('the connection was made');
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('createCheckedConnector', () => {
  it('returns a socket to the checked address', async () => {
    const server = await serve();

    const outcome = await connect(build({}), 'hooks.example', server.port);

    expect('socket' in outcome && outcome.socket.remoteAddress).toBe('127.0.0.1');
    if ('socket' in outcome) outcome.socket.destroy();
  });

  it('refuses a socket that reached another address, before a byte is written', async () => {
    const server = await serve();
    const sockets: Socket[] = [];
    const astray = (options: TcpNetConnectOpts): Socket => {
      const socket = connectTcp({ port: options.port, host: '127.0.0.1' });
      sockets.push(socket);
      return socket;
    };
    const connector = build({ openTcp: astray, lookup: () => Promise.resolve([{ address: '127.0.0.9', family: 4 }]) });

    const error = errorOf(await connect(connector, 'hooks.example', server.port));

    expect(error).toMatchObject({ code: 'EGRESS_ADDRESS_REFUSED' });
    expect(error.message).toBe('hooks.example led to an address that was not checked');
    expect(sockets.map(({ destroyed, bytesWritten }) => [destroyed, bytesWritten])).toEqual([[true, 0]]);
  });

  it('tries the addresses one after the other and uses the first that accepts', async () => {
    const server = await serve();
    // Nothing listens at the first one.
    const addresses = ['127.0.0.7', '127.0.0.1'].map((address) => ({ address, family: 4 }));

    const outcome = await connect(build({ lookup: () => Promise.resolve(addresses) }), 'hooks.example', server.port);

    expect('socket' in outcome && outcome.socket.remoteAddress).toBe('127.0.0.1');
    if ('socket' in outcome) outcome.socket.destroy();
  });

  it('tries at most four of many addresses, from both families, and has time left for the last one', async () => {
    let tried: string[] = [];
    let nextAddressMs = NaN;
    const recording = (options: TcpNetConnectOpts): Socket => {
      nextAddressMs = options.autoSelectFamilyAttemptTimeout ?? NaN;
      options.lookup?.('', { all: true }, (_error, addresses) => {
        tried = (addresses as { address: string }[]).map(({ address }) => address);
      });
      return connectTcp({ port: 1, host: '127.0.0.1' });
    };
    const many = Array.from({ length: 60 }, (_, index) => ({ address: `127.0.1.${String(index)}`, family: 4 }));
    const lookup: Lookup = () => Promise.resolve([...many, { address: '::1', family: 6 }]);

    errorOf(await connect(build({ lookup, openTcp: recording }), 'hooks.example', 1));

    expect(tried).toEqual(['127.0.1.0', '::1', '127.0.1.1', '127.0.1.2']);
    // Three that are silent, and two round trips to the fourth, however distant.
    expect(3 * nextAddressMs).toBeLessThan(ATTEMPT_DEADLINE_MS - 2 * DISTANT_ROUND_TRIP_MS);
    expect(nextAddressMs).toBeGreaterThan(DISTANT_ROUND_TRIP_MS);
  });

  it('abandons a connection that is not established in time, and leaves no socket', async () => {
    const sockets: Socket[] = [];
    const never = (): Socket => {
      const socket = new Socket();
      sockets.push(socket);
      return socket;
    };

    const error = errorOf(await connect(build({ openTcp: never, connectTimeoutMs: 30 }), 'hooks.example', 1));

    expect(error).toMatchObject({ code: 'ETIMEDOUT', message: 'no connection to hooks.example within 30 ms' });
    expect(sockets.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it('opens nothing when the name is resolved after the timeout', async () => {
    let opened = 0;
    let answer: (addresses: { address: string; family: number }[]) => void = () => undefined;
    const late: Lookup = () => new Promise((resolve) => (answer = resolve));
    const openTcp = (options: TcpNetConnectOpts): Socket => {
      opened += 1;
      return connectTcp(options);
    };

    errorOf(await connect(build({ lookup: late, openTcp, connectTimeoutMs: 20 }), 'hooks.example', 1));
    answer([{ address: '127.0.0.1', family: 4 }]);
    await flushed();

    expect(opened).toBe(0);
  });

  it.each<[string, Lookup | undefined]>([
    ['connected', undefined],
    ['resolved', () => new Promise(() => undefined)],
  ])('ends what is still being %s when it is closed', async (_stage, lookup) => {
    const sockets: Socket[] = [];
    const openTcp = (): Socket => {
      const socket = new Socket();
      sockets.push(socket);
      return socket;
    };
    let isResolving = false;
    const connector = build({
      openTcp,
      lookup: (...question) => {
        isResolving = lookup !== undefined;
        return (lookup ?? (() => Promise.resolve([{ address: '127.0.0.1', family: 4 }])))(...question);
      },
    });
    const outcome = connect(connector, 'hooks.example', 1);
    await until(() => isResolving || sockets.length === 1);

    connector.destroyPending();

    expect(errorOf(await outcome).message).toBe('the client is closed');
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual(lookup === undefined ? [true] : []);
  });

  it('keeps nothing of a connection that is over', async () => {
    const server = await serve();
    const connector = build({});
    const made = async (): Promise<WeakRef<Socket>> => {
      const outcome = await connect(connector, 'hooks.example', server.port);
      if ('error' in outcome) throw outcome.error;
      outcome.socket.destroy();
      await once(outcome.socket, 'close');
      return new WeakRef(outcome.socket);
    };
    const sockets = [await made(), await made()];

    await until(() => {
      collectGarbage();
      expect(sockets.filter((socket) => socket.deref() !== undefined)).toHaveLength(0);
    });
    connector.destroyPending();
  });

  it.each([
    ['127.0.0.1', 'socket'],
    ['10.0.0.1', 'EGRESS_ADDRESS_REFUSED'],
    ['fe80::1', 'EGRESS_ADDRESS_REFUSED'],
    ['64:ff9b::7f00:1', 'EGRESS_ADDRESS_REFUSED'],
  ])('judges the literal address %p without a lookup', async (address, expected) => {
    const server = await serve();
    const lookup: Lookup = () => Promise.reject(new Error('a literal address must not be looked up'));

    const outcome = await connect(build({ lookup }), address, server.port);

    if ('socket' in outcome) outcome.socket.destroy();
    expect('socket' in outcome ? 'socket' : outcome.error.code).toBe(expected);
  });
});

/** The only address that may be reached; 127.0.0.2 stands for internal addresses. */
const PUBLIC = '127.0.0.1';
const INNER = '127.0.0.2';
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
    const result = await client.post({ url, headers: {}, body: '{}', deadlineMs });
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

describe('a name whose answer changes (R-27)', () => {
  it('between look-up and connect has no effect: the connection goes to the checked address', async () => {
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
        const { post, inner } = await buildClient(({ number }) => at(...answerOf(number)), { respond: CLOSED });

        const results: string[] = [];
        for (let each = 0; each < sequence.length; each += 1) results.push(await post('rebinding.example'));

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
