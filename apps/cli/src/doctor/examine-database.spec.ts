import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it } from '@jest/globals';
import { examineDatabases } from './examine-database.js';

/** AuthenticationOk and ReadyForQuery. */
const ACCEPTED = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

it('The doctor, at a database that accepts the login and then is silent, says so after a time (R-40)', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.once('data', () => socket.write(ACCEPTED));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const login = { variable: 'DATABASE_URL', makesTables: true, writes: true, purposes: [] } as const;
  const url = `postgres://ann:secret@127.0.0.1:${String(port)}/waypost`;
  expect(await examineDatabases([{ ...login, url }], Date.now, 50)).toMatchObject([
    {
      level: 'problem',
      what: expect.stringContaining('does not respond'),
      fix: expect.stringContaining('DATABASE_URL'),
    },
  ]);
  for (const socket of sockets) socket.destroy();
  server.close();
});
