import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { formatCredential } from '@waypost/domain';
import { type AdminServer, createAdminServer, Readiness } from '@waypost/platform';
import { silentLogger, type TaskCommand, type TaskStatus } from '@waypost/streams';
import { startTestApiPerTest, type TestAnswer } from '../testing/test-api.js';

const ADMIN = formatCredential('adminKey', Buffer.alloc(32, 1));
const adminKeyHashes = [createHash('sha256').update(ADMIN).digest()];
const FAN_OUT = 'webhook-delivery.fan-out';
const SINCE_MS = Date.UTC(2026, 2, 20, 12);
const POISONED = { code: 'PROCESSING_FAILED', offset: 7, message: 'no', since: SINCE_MS, nextRetryAt: null } as const;
const COMMANDS = `/public/v1/tasks/${FAN_OUT}:1/commands`;

const logged: { event: string; fields: unknown }[] = [];
const start = startTestApiPerTest({
  adminKeyHashes,
  logger: { ...silentLogger, info: (event: string, fields?: unknown) => void logged.push({ event, fields }) },
});
const instances: AdminServer[] = [];

afterEach(async () => {
  await Promise.all(instances.splice(0).map((instance) => instance.stop()));
});

/** An instance of webhook-delivery with these partitions, and the commands that it was given. */
async function instance(...tasks: (Pick<TaskStatus, 'partition' | 'parked'> & Partial<TaskStatus>)[]) {
  const { tasks: running } = new Readiness();
  const commands: TaskCommand[] = [];
  running.add(FAN_OUT, {
    tasks: () =>
      tasks.map((task) => ({
        lagRecords: null,
        batchSince: null,
        ...task,
        topic: 'fleet.events',
        state: task.parked ? 'parked' : 'running',
      })),
    command({ partition }, command) {
      if (tasks.find((one) => one.partition === partition)?.parked === null) return 'It is not parked.';
      commands.push(command);
      return null;
    },
  });
  const server = createAdminServer({
    host: '127.0.0.1',
    port: 0,
    metrics: new Registry(),
    tasks: running,
    stalls: () => [],
    readiness: () => ({ ready: true, parts: [] }),
  });
  instances.push(server);
  const url = `http://127.0.0.1:${String(await server.start())}`;
  return { url, server, running, commands };
}

function message({ body }: TestAnswer): string {
  return (body as { error: { message: string } }).error.message;
}

describe('the partitions of all instances (R-45)', () => {
  it('are listed for an admin key, with why one is parked', async () => {
    const [first, second] = [
      await instance({ partition: 0, parked: null, lagRecords: 12 }),
      await instance({ partition: 1, parked: POISONED }),
    ];
    const api = await start({ adminUrls: [first.url, second.url] });

    const { status, body } = await api.request('/public/v1/tasks', { key: ADMIN });

    const shared = { group: FAN_OUT, topic: 'fleet.events' };
    const parked = { code: 'PROCESSING_FAILED', offset: 7, message: 'no', since: '2026-03-20T12:00:00.000Z' };
    expect(status).toBe(200);
    expect(body).toEqual({
      data: [
        { ...shared, task: `${FAN_OUT}:0`, partition: 0, state: 'running', lagRecords: 12, instance: first.url },
        { ...shared, task: `${FAN_OUT}:1`, partition: 1, state: 'parked', parked, instance: second.url },
      ],
      unanswered: [],
    });
  });

  it('are listed as far as instances answer, with those that do not', async () => {
    const [there, gone] = [await instance({ partition: 0, parked: null }), await instance()];
    await gone.server.stop();
    const api = await start({ adminUrls: [there.url, gone.url] });

    const { body } = await api.request('/public/v1/tasks', { key: ADMIN });

    expect(body).toMatchObject({
      data: [{ task: `${FAN_OUT}:0` }],
      unanswered: [{ instance: gone.url, reason: expect.stringContaining('does not respond') }],
    });
  });

  it('add up per topic, in which every topic of Waypost has its line', async () => {
    const lag = { lagRecords: 5 };
    const one = await instance({ partition: 0, parked: null, ...lag }, { partition: 1, parked: POISONED, ...lag });
    const api = await start({ adminUrls: [one.url] });

    const { body } = await api.request('/public/v1/topics', { key: ADMIN });

    const { data } = body as { data: { name: string; retentionMs?: number; consumers: object[] }[] };
    const consumer = { group: FAN_OUT, partitions: 2, parked: 1, lagRecords: 10 };
    expect(data.find(({ name }) => name === 'fleet.events')?.consumers).toEqual([consumer]);
    expect(data.find(({ name }) => name === 'webhook.deliveries')?.consumers).toContainEqual({
      group: 'webhook-delivery.sender',
      partitions: 0,
      parked: 0,
      lagRecords: 0,
    });
    // at least the 15 days of the history; a compacted topic keeps the newest for ever.
    expect(data.find(({ name }) => name === 'fleet.events')?.retentionMs).toBeGreaterThanOrEqual(15 * 86_400_000);
    expect(data.find(({ name }) => name === 'webhook.subscriptions')).not.toHaveProperty('retentionMs');
  });
});

describe('a command to a partition (R-45)', () => {
  it('goes to the instance that owns it, and is logged with its reason', async () => {
    const [other, owner] = [
      await instance({ partition: 0, parked: null }),
      await instance({ partition: 1, parked: POISONED }),
    ];
    const api = await start({ adminUrls: [other.url, owner.url] });
    logged.length = 0;

    const json = { command: 'skip', offset: 7, reason: 'A record of the load test' };
    const { status, headers } = await api.request(COMMANDS, { method: 'POST', key: ADMIN, json });

    expect(status).toBe(204);
    expect([other.commands, owner.commands]).toEqual([[], [{ skip: 7 }]]);
    const requestId = headers.get('x-request-id');
    expect(logged.filter(({ event }) => event === 'task_command')).toEqual([
      { event: 'task_command', fields: { ...json, task: `${FAN_OUT}:1`, outcome: 'done', requestId } },
    ]);
  });

  it('names the topic of the record to skip, of a task that reads several', async () => {
    const one = await instance({ partition: 1, parked: { ...POISONED, topic: 'webhook.replays' } });
    const api = await start({ adminUrls: [one.url] });
    const skip = (topic: string) =>
      api.request(COMMANDS, { method: 'POST', key: ADMIN, json: { command: 'skip', offset: 7, topic, reason: 'x' } });

    const { body } = await api.request('/public/v1/tasks', { key: ADMIN });
    expect(body).toMatchObject({ data: [{ topic: 'fleet.events', parked: { topic: 'webhook.replays', offset: 7 } }] });
    const other = await skip('fleet.events');
    expect([other.status, message(other)]).toEqual([
      409,
      'It is parked in webhook.replays by now, not in fleet.events.',
    ]);
    expect((await skip('webhook.replays')).status).toBe(204);
    expect(one.commands).toEqual([{ skip: 7 }]);
  });

  it('is refused with the reason of the instance, and needs a reason itself', async () => {
    const one = await instance({ partition: 1, parked: null });
    const api = await start({ adminUrls: [one.url] });
    const post = (json: object) => api.request(COMMANDS, { method: 'POST', key: ADMIN, json });

    const refused = await post({ command: 'retry', reason: 'try' });
    expect([refused.status, message(refused)]).toEqual([409, 'It is not parked.']);
    for (const json of [
      { command: 'skip' },
      { command: 'seek', reason: 'x' },
      { command: 'skip', reason: '' },
      { command: 'skip', offset: -1, reason: 'x' },
      { command: 'retry', offset: 7, reason: 'x' },
      { command: 'skip', topic: 'fleet.events', reason: 'x' },
    ])
      expect((await post(json)).status).toBe(400);
    expect(one.commands).toEqual([]);
  });

  it('says which instance could not be asked, where none has the partition', async () => {
    const [other, gone] = [await instance({ partition: 0, parked: POISONED }), await instance()];
    await gone.server.stop();
    const api = await start({ adminUrls: [other.url, gone.url] });

    const json = { command: 'retry', reason: 'try' };
    const answer = await api.request(COMMANDS, { method: 'POST', key: ADMIN, json });

    expect(answer.status).toBe(404);
    expect(message(answer)).toContain(`${gone.url} does not respond`);
  });
});

describe('without the addresses of the instances or an admin key (R-37)', () => {
  it('there is nothing to see and to command', async () => {
    const api = await start();
    const json = { command: 'retry', reason: 'try' };
    const answers = [
      await api.request('/public/v1/tasks', { key: ADMIN }),
      await api.request('/public/v1/topics', { key: ADMIN }),
      await api.request(COMMANDS, { method: 'POST', key: ADMIN, json }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    for (const answer of answers) expect(message(answer)).toContain('WAYPOST_ADMIN_URLS');
  });

  it('an API key of a fleet is refused', async () => {
    const one = await instance({ partition: 1, parked: POISONED });
    const api = await start({ adminUrls: [one.url] });
    const json = { command: 'skip', reason: 'try' };
    expect((await api.request('/public/v1/tasks')).status).toBe(403);
    expect((await api.request('/public/v1/topics')).status).toBe(403);
    expect((await api.request(COMMANDS, { method: 'POST', json })).status).toBe(403);
    expect(one.commands).toEqual([]);
  });
});
