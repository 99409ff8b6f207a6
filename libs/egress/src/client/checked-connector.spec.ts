import { once } from 'node:events';
import { connect as connectTcp, Socket, type TcpNetConnectOpts } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ATTEMPT_DEADLINE_MS } from '@waypost/domain';
import { flushed, until } from '../../../../test/support/until.js';
import { parseSubnets } from '../address/classify-address.js';
import { type Lookup } from '../address/dns-lookup.js';
import { createHostResolver } from '../address/resolve-host.js';
import { type RawServer, startConnectionServer } from '../testing/raw-server.js';
import {
  type CheckedConnector,
  type CheckedConnectorOptions,
  type ConnectTarget,
  createCheckedConnector,
} from './checked-connector.js';

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
