import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { commandTask, listTasks } from './tasks.js';

const REASON = { code: 'X', offset: 7, message: 'no', since: 1, nextRetryAt: null };
const RUNNING = { task: 'fan-out:0', topic: 'events', partition: 0, state: 'running', parked: null, lagRecords: 3 };
const PARKED = { ...RUNNING, task: 'fan-out:1', partition: 1, state: 'parked', parked: REASON };

describe('the tasks command (R-45)', () => {
  let dataDir = '';
  let printed = '';
  const servers: Server[] = [];
  const requests: string[] = [];
  const terminal = {
    out: new Writable({
      write(chunk, _encoding, done) {
        printed += String(chunk);
        done();
      },
    }),
    err: new Writable({ write: (_chunk, _encoding, done) => done() }),
  };

  beforeEach(async () => {
    printed = '';
    requests.length = 0;
    dataDir = await mkdtemp(join(tmpdir(), 'waypost-tasks-'));
  });

  afterEach(async () => {
    for (const server of servers.splice(0)) server.close();
    await rm(dataDir, { recursive: true });
  });

  /** An instance with these tasks, of which only parked ones take commands. */
  function instance(...tasks: (typeof RUNNING | typeof PARKED)[]): Promise<string> {
    return serve((request, response) => {
      const [, , name = '', command, ...given] = (request.url ?? '').split('/').map(decodeURIComponent);
      const found = tasks.find(({ task }) => task === name);
      const status = command === undefined || found?.state === 'parked' ? 200 : found === undefined ? 404 : 409;
      if (command !== undefined) requests.push([name, command, ...given, status].join(' '));
      response.writeHead(status).end(JSON.stringify({ tasks, reason: 'It is not parked.' }));
    });
  }

  async function serve(answer: RequestListener): Promise<string> {
    const server = createServer(answer);
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  }

  function stackOf(...adminUrls: string[]): Promise<void> {
    const facts = { brokers: '', registryUrl: '', databaseUrl: '', apiUrl: '', adminUrls };
    return writeFile(join(dataDir, 'stack.json'), JSON.stringify(facts));
  }

  it('lists the parked tasks of every instance, and all with --all', async () => {
    const [first, second] = [await instance(RUNNING), await instance(PARKED)];
    await stackOf(first, second);

    await listTasks(terminal, { dataDir, all: false });
    expect(JSON.parse(printed)).toEqual({ ...PARKED, instance: second });

    printed = '';
    await listTasks(terminal, { dataDir, all: true });
    expect(printed.trim().split('\n')).toHaveLength(2);
  });

  it('lists what it can, then names the instance that does not answer', async () => {
    const [first, gone] = [await instance(PARKED), await instance()];
    await stackOf(first, gone);
    const last = servers.at(-1);
    if (last) await once(last.close(), 'close');

    await expect(listTasks(terminal, { dataDir, all: false })).rejects.toThrow(`${gone} does not respond`);
    expect(printed).toContain('fan-out:1');
  });

  it.each([
    ['no list of tasks', 200, { status: 'ok' }, 'did not respond with tasks'],
    ['a refusal', 403, { tasks: [], reason: 'Not from here.' }, 'responded with status 403'],
  ])('lists what it can, then names the address that answers with %s', async (_what, status, answer, reason) => {
    const other = await serve((_request, response) => response.writeHead(status).end(JSON.stringify(answer)));
    await stackOf(other, await instance(PARKED));

    await expect(listTasks(terminal, { dataDir, all: false })).rejects.toThrow(`${other} ${reason}`);
    expect(printed).toContain('fan-out:1');
  });

  it('takes addresses with a slash behind them and spaces around them', async () => {
    await stackOf(`${await instance(PARKED)}/`, ` ${await instance(RUNNING)} `);

    await listTasks(terminal, { dataDir, all: true });
    expect(printed.trim().split('\n')).toHaveLength(2);
  });

  it('gives a command to the instance that owns the task', async () => {
    await stackOf(await instance(RUNNING), await instance(PARKED));

    await commandTask(terminal, { dataDir, task: 'fan-out:1', command: 'skip' });

    expect(requests.sort()).toEqual(['fan-out:1 skip 200', 'fan-out:1 skip 404']);
    expect(printed).toBe('fan-out:1: skipping one record\n');
  });

  it('names the record that is meant to an instance that skips, and refuses what is not an offset', async () => {
    await stackOf(await instance(PARKED));
    const skip = (position: string) => commandTask(terminal, { dataDir, task: 'fan-out:1', command: 'skip', position });

    await skip('7');
    await expect(skip('latest')).rejects.toThrow('"latest" is not an offset');

    expect(requests).toEqual(['fan-out:1 skip 7 200']);
  });

  it('names the topic of that record as well, of a task that reads several', async () => {
    await stackOf(await instance(PARKED));
    const skip = { dataDir, task: 'fan-out:1', command: 'skip', topic: 'fleet.events' } as const;

    await commandTask(terminal, { ...skip, position: '7' });
    await expect(commandTask(terminal, skip)).rejects.toThrow('--topic is only for --offset');

    expect(requests).toEqual(['fan-out:1 skip 7 fleet.events 200']);
  });

  it('moves a task that has lost its position, and refuses what is not a position', async () => {
    await stackOf(await instance(PARKED));
    const seek = (position: string) => commandTask(terminal, { dataDir, task: 'fan-out:1', command: 'seek', position });

    await seek('1234');
    await expect(seek('yesterday')).rejects.toThrow('"yesterday" is not a position');

    expect(requests).toEqual(['fan-out:1 seek 1234 200']);
    expect(printed).toBe('fan-out:1: continuing from 1234\n');
  });

  it('says why a command is refused, and when no instance has the task', async () => {
    await stackOf(await instance(RUNNING));
    const asked = (task: string) => commandTask(terminal, { dataDir, task, command: 'retry' });

    await expect(asked('fan-out:0')).rejects.toThrow('fan-out:0: It is not parked.');
    await expect(asked('fan-out:9')).rejects.toThrow('No instance has a task fan-out:9.');
  });
});
