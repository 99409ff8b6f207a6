import { connect as connectTcp, Socket, type TcpNetConnectOpts } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { parseSubnets } from '../address/classify-address.js';
import type { Lookup } from '../address/lookup.js';
import { createHostResolver } from '../address/resolve-host.js';
import { type RawServer, startConnectionServer } from '../testing/raw-server.js';
import {
  type CheckedConnector,
  type CheckedConnectorOptions,
  type ConnectTarget,
  createCheckedConnector,
} from './checked-connector.js';

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

/** Refuses, in a language that it may be asked, to be anything but an error. */
function errorOf(outcome: Outcome): Error & { code?: string } {
  if ('error' in outcome) return outcome.error;
  outcome.socket.destroy();
  throw new Error('the connection was made');
}

describe('createCheckedConnector', () => {
  it('gives a socket to the checked address', async () => {
    const server = await serve();

    const outcome = await connect(build({}), 'hooks.example', server.port);

    expect('socket' in outcome && outcome.socket.remoteAddress).toBe('127.0.0.1');
    if ('socket' in outcome) outcome.socket.destroy();
  });

  it('refuses a socket that arrived somewhere else than it was sent, before a byte is written', async () => {
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
    expect(error.message).toBe('hooks.example led to 127.0.0.1, which was not checked');
    expect(sockets.map(({ destroyed, bytesWritten }) => [destroyed, bytesWritten])).toEqual([[true, 0]]);
  });

  it('tries the addresses in turn and takes the first that answers', async () => {
    const server = await serve();
    // Nothing listens at the first one.
    const addresses = ['127.0.0.7', '127.0.0.1'].map((address) => ({ address, family: 4 }));

    const outcome = await connect(build({ lookup: () => Promise.resolve(addresses) }), 'hooks.example', server.port);

    expect('socket' in outcome && outcome.socket.remoteAddress).toBe('127.0.0.1');
    if ('socket' in outcome) outcome.socket.destroy();
  });

  it('tries no more than four of many addresses, of both families', async () => {
    let tried: string[] = [];
    const recording = (options: TcpNetConnectOpts): Socket => {
      options.lookup?.('', { all: true }, (_error, addresses) => {
        tried = (addresses as { address: string }[]).map(({ address }) => address);
      });
      return connectTcp({ port: 1, host: '127.0.0.1' });
    };
    const many = Array.from({ length: 200 }, (_, index) => ({ address: `127.0.1.${String(index)}`, family: 4 }));
    const lookup: Lookup = () => Promise.resolve([...many, { address: '::1', family: 6 }]);

    errorOf(await connect(build({ lookup, openTcp: recording }), 'hooks.example', 1));

    expect(tried).toEqual(['127.0.1.0', '::1', '127.0.1.1', '127.0.1.2']);
  });

  it('gives up a connection that is not made in time, and leaves no socket', async () => {
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

  it('opens nothing when the name is resolved after the time is over', async () => {
    let opened = 0;
    const late: Lookup = () => new Promise((resolve) => setTimeout(resolve, 60, [{ address: '127.0.0.1', family: 4 }]));
    const openTcp = (options: TcpNetConnectOpts): Socket => {
      opened += 1;
      return connectTcp(options);
    };

    errorOf(await connect(build({ lookup: late, openTcp, connectTimeoutMs: 20 }), 'hooks.example', 1));
    await new Promise((resolve) => setTimeout(resolve, 80));

    expect(opened).toBe(0);
  });

  it.each<[string, Lookup | undefined]>([
    ['connected', undefined],
    ['resolved', () => new Promise(() => undefined)],
  ])('ends what is still being %s when it is told so', async (_stage, lookup) => {
    const sockets: Socket[] = [];
    const openTcp = (): Socket => {
      const socket = new Socket();
      sockets.push(socket);
      return socket;
    };
    const connector = build(lookup === undefined ? { openTcp } : { openTcp, lookup });
    const outcome = connect(connector, 'hooks.example', 1);
    await new Promise((resolve) => setTimeout(resolve, 10));

    connector.destroyPending();

    expect(errorOf(await outcome).message).toBe('the client is closed');
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual(lookup === undefined ? [true] : []);
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
