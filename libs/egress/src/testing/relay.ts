import { connect, type Socket } from 'node:net';
import { type LoopbackServer, startLoopbackServer } from './loopback-server.js';

/** Gets a connection, the first bytes that its client sent, and its number, from 1. */
export type RelayBehavior = (client: Socket, first: Buffer, connectionNumber: number) => void;

export interface Relay extends LoopbackServer {
  /** How many connections there have been. */
  connections(): number;
}

/** Stands before a server and sees what TLS hides from both ends of a connection. */
export async function startRelay(behave: RelayBehavior): Promise<Relay> {
  let made = 0;
  const server = await startLoopbackServer((client) => {
    made += 1;
    const connectionNumber = made;
    client.once('data', (first) => {
      client.pause();
      behave(client, first, connectionNumber);
    });
  });
  return { ...server, connections: () => made };
}

/** Passes everything on to this port of 127.0.0.1 and back. @returns the other connection */
export function passOn(client: Socket, first: Buffer, port: number): Socket {
  const server = connect(port, '127.0.0.1');
  server.on('error', () => client.destroy());
  client.once('close', () => server.destroy());
  server.write(first);
  client.pipe(server).pipe(client);
  return server;
}

const PRE_SHARED_KEY = 41;

/** Whether a ClientHello, which is one record, offers a session of TLS 1.3 (RFC 8446, 4.1.2 and 4.2.11). */
export function offersSession(hello: Buffer): boolean {
  // The record, the message, the version and the random bytes.
  let at = 5 + 4 + 2 + 32;
  at += 1 + hello.readUInt8(at);
  at += 2 + hello.readUInt16BE(at);
  at += 1 + hello.readUInt8(at);
  for (at += 2; at + 4 <= hello.length; at += 4 + hello.readUInt16BE(at + 2))
    if (hello.readUInt16BE(at) === PRE_SHARED_KEY) return true;
  return false;
}
