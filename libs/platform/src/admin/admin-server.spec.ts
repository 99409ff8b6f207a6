import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Counter, Registry } from 'prom-client';
import type { Stall, TaskManager } from '@waypost/streams';
import { BootError } from '../boot-error.js';
import type { PartStatus } from '../lifecycle/lifecycle.js';
import { RunningTasks } from '../runtime/running-tasks.js';
import { type AdminServer, createAdminServer } from './admin-server.js';

const running: AdminServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

interface Built {
  readonly host?: string;
  readonly port?: number;
  readonly stalled?: readonly Stall[];
}

async function build(ready = true, { port = 0, host = '127.0.0.1', stalled = [] }: Built = {}) {
  const metrics = new Registry();
  new Counter({ name: 'pings_total', help: 'Pings.', registers: [metrics] }).inc(3);
  const tasks = new RunningTasks();
  const parts: PartStatus[] = [{ name: 'task runner', state: 'started', ready }];
  const server = createAdminServer({
    host,
    port,
    metrics,
    tasks,
    readiness: () => ({ ready, parts }),
    stalls: () => stalled,
  });
  running.push(server);
  const url = `http://127.0.0.1:${String(await server.start())}`;
  return { url, parts, tasks };
}

describe('createAdminServer (R-40)', () => {
  it('is live as soon as it listens', async () => {
    const { url } = await build(false);

    expect((await fetch(`${url}/health/live`)).status).toBe(200);
  });

  it.each([
    [true, 200, 'ready'],
    [false, 503, 'not ready'],
  ])('answers readiness %p with %p and the parts', async (ready, statusCode, status) => {
    const { url, parts } = await build(ready);

    const response = await fetch(`${url}/health/ready`);

    expect(response.status).toBe(statusCode);
    expect(await response.json()).toEqual({ status, parts, parked: [], stalled: [] });
  });

  it('is ready but degraded with a parked partition, and says why (R-45)', async () => {
    const { url, tasks } = await build();
    const reason = { code: 'PROCESSING_FAILED', offset: 7, message: 'no', since: 5, nextRetryAt: null } as const;
    const [partition, command] = [{ topic: 'pings', partition: 2 }, jest.fn(() => null)];
    tasks.add('reader', {
      tasks: () => [{ ...partition, state: 'parked', parked: reason, lagRecords: null, batchSince: null }],
      command,
    });

    const response = await fetch(`${url}/health/ready`);

    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      status: 'degraded',
      parked: [{ task: 'reader:2', ...partition, ...reason }],
    });
    expect(await (await fetch(`${url}/tasks`)).json()).toMatchObject({
      tasks: [{ task: 'reader:2', state: 'parked' }],
    });
  });

  it('is ready but degraded while a read does not go on, and says since when (R-45)', async () => {
    const stall = { kind: 'read', name: 'fleet.settings-0', cause: 'A transaction is open.', since: 5 } as const;
    const { url } = await build(true, { stalled: [stall] });

    const response = await fetch(`${url}/health/ready`);

    expect([response.status, await response.json()]).toMatchObject([200, { status: 'degraded', stalled: [stall] }]);
  });

  it.each([
    [null, 200],
    ['It is not parked.', 409],
    [undefined, 404],
  ])('passes a command on: the result %p is a %p', async (result, statusCode) => {
    const { url, tasks } = await build();
    const command = jest.fn<TaskManager['command']>(() => result);
    tasks.add('reader', {
      tasks: () => [{ topic: 'pings', partition: 2, state: 'running', parked: null, lagRecords: 0, batchSince: null }],
      command,
    });

    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}/tasks/${encodeURIComponent('reader:2')}/skip`, { method: 'POST', headers });

    expect(response.status).toBe(statusCode);
    expect(command).toHaveBeenCalledWith(expect.objectContaining({ topic: 'pings', partition: 2 }), 'skip');
  });

  it.each([
    ['7', 200, { skip: 7 }],
    ['-1', 404, null],
    ['latest', 404, null],
  ])('skips the record at %s only: a %p (R-45)', async (offset, statusCode, skip) => {
    const { url, tasks } = await build();
    const command = jest.fn<TaskManager['command']>(() => null);
    tasks.add('reader', {
      tasks: () => [{ topic: 'pings', partition: 2, state: 'parked', parked: null, lagRecords: 0, batchSince: null }],
      command,
    });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}/tasks/reader:2/skip/${offset}`, { method: 'POST', headers });

    expect(response.status).toBe(statusCode);
    expect(command.mock.calls.map(([, given]) => given)).toEqual(skip === null ? [] : [skip]);
  });

  it.each([
    ['payments, the second of its topics', 'payments', 'payments', 200],
    ['orders, while it is parked in payments', 'payments', 'orders', 409],
    ['pings, its only one', undefined, 'pings', 200],
    ['orders, which it does not read', undefined, 'orders', 409],
  ])('skips the record at 7 of %s only (R-45)', async (_which, parkedIn, topic, statusCode) => {
    const { url, tasks } = await build();
    const command = jest.fn<TaskManager['command']>(() => null);
    const reason = { code: 'PROCESSING_FAILED', offset: 7, message: 'no', since: 0, nextRetryAt: null } as const;
    const parked = { ...reason, ...(parkedIn !== undefined && { topic: parkedIn }) };
    tasks.add('reader', {
      tasks: () => [{ topic: 'pings', partition: 2, state: 'parked', parked, lagRecords: 0, batchSince: null }],
      command,
    });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}/tasks/reader:2/skip/7/${topic}`, { method: 'POST', headers });

    expect(response.status).toBe(statusCode);
    expect(command.mock.calls.map(([, given]) => given)).toEqual(statusCode === 200 ? [{ skip: 7 }] : []);
  });

  it.each([
    ['earliest', 200, 'earliest'],
    ['latest', 200, 'latest'],
    ['1234', 200, 1_234],
    ['-1', 404, null],
    ['yesterday', 404, null],
  ])('moves a lost position to %s: a %p (R-45)', async (position, statusCode, seek) => {
    const { url, tasks } = await build();
    const command = jest.fn<TaskManager['command']>(() => null);
    tasks.add('reader', {
      tasks: () => [{ topic: 'pings', partition: 2, state: 'parked', parked: null, lagRecords: 0, batchSince: null }],
      command,
    });

    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}/tasks/reader:2/seek/${position}`, { method: 'POST', headers });

    expect(response.status).toBe(statusCode);
    expect(command.mock.calls.map(([, given]) => given)).toEqual(seek === null ? [] : [{ seek }]);
  });

  it('takes no command from a web page, and none for a task that is not here', async () => {
    const { url } = await build();
    const headers = { 'content-type': 'application/json' };

    expect((await fetch(`${url}/tasks/reader:2/skip`, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${url}/tasks/reader:2/skip`, { method: 'POST', headers })).status).toBe(404);
  });

  // The address by which other hosts reach this one; a machine without a network has none.
  const address = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.internal === false && one.family === 'IPv4')?.address;

  (address === undefined ? it.skip : it)(
    'is read from other hosts where it listens for them, but takes no command',
    async () => {
      const { url, tasks } = await build(true, { host: '0.0.0.0' });
      const command = jest.fn<TaskManager['command']>(() => null);
      tasks.add('reader', {
        tasks: () => [
          { topic: 'pings', partition: 2, state: 'running', parked: null, lagRecords: 0, batchSince: null },
        ],
        command,
      });
      const headers = { 'content-type': 'application/json' };
      const skip = (base: string) => fetch(`${base}/tasks/reader:2/skip`, { method: 'POST', headers });
      const fromElsewhere = url.replace('127.0.0.1', String(address));

      expect((await fetch(`${fromElsewhere}/health/ready`)).status).toBe(200);
      expect((await skip(fromElsewhere)).status).toBe(403);
      expect(command).not.toHaveBeenCalled();
      expect((await skip(url)).status).toBe(200);
      expect(command).toHaveBeenCalledTimes(1);
    },
  );

  it('serves the metrics of its registry', async () => {
    const { url } = await build();

    expect(await (await fetch(`${url}/metrics`)).text()).toContain('pings_total 3');
  });

  it('serves no other path and no writing method', async () => {
    const { url } = await build();

    expect((await fetch(`${url}/`)).status).toBe(404);
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
  });

  it('names the variable to change when its port is taken', async () => {
    const { url } = await build();

    const failure = build(true, { port: Number(new URL(url).port) });

    await expect(failure).rejects.toBeInstanceOf(BootError);
    await expect(failure).rejects.toThrow(/is in use: set WAYPOST_ADMIN_PORT/);
  });
});
