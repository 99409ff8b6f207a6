import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import {
  allConsumerGroups,
  createAvroCodecs,
  createSchemaRegistry,
  type KafkaPermission,
  kafkaPermissions,
  type KafkaUser,
  topics,
} from '@waypost/contracts';
import { kafkaConfig, parseConfig, Quarantine } from '@waypost/platform';
import { createKafkaBackend, silentLogger, StreamRecord } from '@waypost/streams';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { requireTestStack } from '../support/test-stack.js';
import { until } from '../support/until.js';
import { type AuthorizedStack, startAuthorizedStack } from './testing/authorized-stack.js';
import { type BuiltProgram, startBuilt } from './testing/built-program.js';

/** Starts all applications, some of them several times: with npm run test:long. */
const isLong = process.env['WAYPOST_LONG_TESTS'] !== undefined;
const patience = { timeoutMs: 50_000 };
const APPS = ['telemetry-processor', 'webhook-delivery', 'history-projector', 'public-api'] as const;

/** One permission that is not given, and what must be named then. */
const LACKING: readonly (readonly [KafkaUser, KafkaPermission['resource'], name: string])[] = [
  ['telemetry-processor', 'topic', topics.telemetryPings.name],
  ['telemetry-processor', 'topic', topics.deviceState.name],
  ['telemetry-processor', 'topic', topics.fleetSettings.name],
  ['telemetry-processor', 'transactionalId', 'telemetry-processor.'],
  ['webhook-delivery', 'transactionalId', 'webhook-delivery.sender.'],
  ['webhook-delivery', 'group', 'webhook-delivery.fan-out'],
  ['history-projector', 'topic', topics.webhookAttempts.name],
  ['history-projector', 'group', 'history-projector'],
];

function userWithout(resource: string, name: string): string {
  return `without-${resource}-${name}`;
}

function users(): Record<string, readonly KafkaPermission[]> {
  const lacking = LACKING.map(([user, resource, name]) => {
    const rest = kafkaPermissions[user].filter((one) => one.resource !== resource || one.name !== name);
    return [`${user}-${userWithout(resource, name)}`, rest] as const;
  });
  return { ...kafkaPermissions, ...Object.fromEntries(lacking) };
}

(isLong ? describe : describe.skip)('A broker that grants to each application what is listed', () => {
  let stack: AuthorizedStack;
  let database: TestDatabase;
  const running: BuiltProgram[] = [];
  const keys = {
    WAYPOST_SEALING_KEY: randomBytes(32).toString('base64'),
    WAYPOST_PAGE_TOKEN_KEY: randomBytes(32).toString('base64'),
    WAYPOST_EGRESS_ALLOW: '127.0.0.0/8',
    WAYPOST_ALLOW_HTTP: 'true',
  };

  beforeAll(async () => {
    database = await createTestDatabase(requireTestStack().databaseUrl);
    const { registryUrl } = requireTestStack();
    stack = await startAuthorizedStack({ registryUrl, databaseUrl: database.url, users: users() });
  });
  afterAll(async () => {
    await Promise.all(running.map((program) => program.stop()));
    await stack.close();
    await database.drop();
  });

  function start(path: string, args: readonly string[], env: Readonly<Record<string, string>>): BuiltProgram {
    const program = startBuilt(path, args, { ...keys, ...env });
    running.push(program);
    return program;
  }

  async function startApp(
    app: string,
    user: string,
  ): Promise<{ readonly program: BuiltProgram; readonly adminUrl: string }> {
    const adminPort = String(await stack.port(`admin-${user}`));
    const env = { ...stack.environment(user), WAYPOST_ADMIN_PORT: adminPort, WAYPOST_PORT: '0' };
    return { program: start(`apps/${app}/src/main.js`, [], env), adminUrl: `http://127.0.0.1:${adminPort}` };
  }

  const cli = (args: readonly string[], env: Readonly<Record<string, string>>): BuiltProgram =>
    start('apps/cli/src/main.js', [...args, '--data-dir', stack.folder], env);

  it('lets set-up create all topics', async () => {
    const setUp = cli(['set-up'], stack.environment('set-up'));
    expect([await setUp.ended, setUp.output()]).toEqual([0, expect.stringContaining('created 13 topics')]);
  });

  it('lets a ping become a delivery, and one that is none a rejected record, with no permission missing', async () => {
    const apps = await Promise.all(APPS.map((app) => startApp(app, app)));
    for (const { adminUrl, program } of apps) {
      await until(async () => {
        const answer = await fetch(`${adminUrl}/health/ready`).then((response) => response.text());
        expect([JSON.parse(answer), program.output()]).toEqual([
          expect.objectContaining({ status: 'ready' }),
          expect.anything(),
        ]);
      }, patience);
    }
    const api = /"port":(\d+)[^\n]*"event":"http_listening"/.exec(apps.at(-1)?.program.output() ?? '');
    const everything = { ...stack.environment(), WAYPOST_API_URL: `http://127.0.0.1:${String(api?.[1])}` };
    const subscriber = start('tools/demo-subscriber/main.js', ['--data-dir', stack.folder], everything);
    await until(() => expect(subscriber.output()).toContain('listening on'), patience);
    start('tools/simulator/main.js', ['--data-dir', stack.folder, '--speed-up', '30'], everything);
    await until(() => expect(subscriber.output()).toMatch(/verified [1-9]/), patience);
    await until(async () => {
      const history = cli(['history', '--fleet', 'demo'], everything);
      expect([await history.ended, history.output()]).toEqual([0, expect.stringContaining('"eventId"')]);
    }, patience);
    await stack.publish(topics.telemetryPings.name, 'no ping');
    await until(async () => {
      const metrics = await (await fetch(`${String(apps[0]?.adminUrl)}/metrics`)).text();
      expect(metrics).toMatch(/^waypost_pings_total\{decision="rejected".*\} [1-9]/m);
    }, patience);
    for (const { program } of apps) expect(program.output()).not.toMatch(/AUTHORIZATION|ACCESS_DENIED|GROUP_REFUSED/i);
  }, 300_000);

  it.each(APPS)('lets %s quarantine a record that an operator skips, of every topic that it reads', async (app) => {
    const kafka = parseConfig(kafkaConfig(app), stack.environment(app));
    const backend = createKafkaBackend({ kafka, logger: silentLogger, now: Date.now });
    const codecs = createAvroCodecs({ registry: createSchemaRegistry({ url: requireTestStack().registryUrl }) });
    const quarantine = new Quarantine(backend, codecs, silentLogger, new Registry(), app);
    const record = StreamRecord.of({ offset: 0, timestamp: 0, key: null, value: null });
    const groups = allConsumerGroups.filter((group) => group.app === app);
    try {
      for (const topic of groups.flatMap(({ topics: read }) => read)) {
        const kept = quarantine.put({ topic, partition: 0 }, [{ record, reason: 'skipped', detail: 'a bug' }]);
        await expect(kept).resolves.toBeUndefined();
      }
    } finally {
      await backend.close();
    }
  });

  it.each(LACKING)('names what %s lacks: the %s %s', async (app, resource, name) => {
    const { program, adminUrl } = await startApp(app, `${app}-${userWithout(resource, name)}`);
    await until(async () => {
      const tasks = await fetch(`${adminUrl}/tasks`).then(
        (response) => response.text(),
        () => '',
      );
      const said = `${program.output()}${tasks}`;
      const named = said.split(/\n|(?=\{"task":)/).filter((line) => line.includes(name));
      expect(named.join('\n')).toMatch(/AUTHORIZATION|not authorized|ACCESS_DENIED|GROUP_REFUSED|Grant/i);
    }, patience);
    await program.stop();
  });
});
