import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ManagedProcess, StackError } from '../index.js';
import { withPort } from './api-port.js';

let server: Server;

beforeEach(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => void server.close());

const failure = new StackError('part_failed', 'public-api-0 ends before it is ready');

/** @param pid of the process whose start has failed */
function failing(pid: number): ManagedProcess {
  return { name: 'public-api-0', start: () => Promise.reject(failure), pid: () => pid, stop: () => Promise.resolve() };
}

const GONE = 2 ** 22 + 1;

describe('the start of the API', () => {
  it('names --port when another program listens there', async () => {
    const { port } = server.address() as AddressInfo;
    await expect(withPort(failing(GONE), port).start()).rejects.toMatchObject({
      code: 'no_free_port',
      message: `Port ${String(port)} is in use: name another --port.`,
    });
  });

  it('fails with its own reason when the port is free, and when it is the API that listens there', async () => {
    const { port } = server.address() as AddressInfo;
    await expect(withPort(failing(process.pid), port).start()).rejects.toBe(failure);
    await new Promise((resolve) => server.close(resolve));
    await expect(withPort(failing(GONE), port).start()).rejects.toBe(failure);
  });
});
