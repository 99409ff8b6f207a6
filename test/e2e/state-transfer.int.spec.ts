import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { topics } from '@waypost/contracts';
import { openRecordPublisher } from '@waypost/platform/without-nest';
import { partitionForKey } from '@waypost/streams';
import { type DevStack, openDataDir, startDevStack } from '../../tools/dev-stack/index.js';
import { generateTraffic } from '../../tools/simulator/generate-traffic.js';
import { type BuiltProgram, startBuilt } from '../security/testing/built-program.js';
import { counts, differences, none } from '../support/differences.js';
import { type PlainPing, plainRules } from '../support/plain-rules.js';
import { queryOnce } from '../support/query-once.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { eventLine, eventTypes } from '../support/subscriptions.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { requireTestStack } from '../support/test-stack.js';
import { until } from '../support/until.js';

const APPS = ['telemetry-processor', 'webhook-delivery', 'history-projector', 'public-api'] as const;
const PATIENCE = { timeoutMs: 60_000 };
const PARTITIONS_BEFORE = 3;
const FLEET = 'moving';
/** The same pings and geofences, all before the move: a geofence is known from its own time on, not from that of the move. */
const STAYING = 'staying';
const { registryUrl, databaseUrl: server } = requireTestStack();
const secrets = {
  WAYPOST_SEALING_KEY: randomBytes(32).toString('base64'),
  WAYPOST_PAGE_TOKEN_KEY: randomBytes(32).toString('base64'),
  WAYPOST_EGRESS_ALLOW: '127.0.0.0/8',
  WAYPOST_ALLOW_HTTP: 'true',
};

const pings = [
  ...generateTraffic({ seed: 8, vehicles: 20, durationMs: 1_800_000, startAt: Date.UTC(2026, 0, 15, 8) }),
] as PlainPing[];
const [before, after] = [pings.slice(0, pings.length / 2), pings.slice(pings.length / 2)];
/** Where a vehicle is when the cluster is changed. */
const { latitude = 0, longitude = 0 } = before.at(-1) ?? {};
const center = { latitude, longitude };
const isOfGeofence = (line: string): boolean => line.startsWith('geofence_');
const linesOf = (some: readonly PlainPing[]): string[] => plainRules(some, 'kept').events.map(eventLine);

interface Event {
  readonly fleetId: string;
  /** Of a geofence_out: null, if it was inside when it was first seen. */
  readonly enteredAt: number | null;
  readonly deviceId: string;
  readonly eventType: string;
  /** Epoch ms. */
  readonly eventTime: number;
}

/** A Kafka cluster with its applications. Registry and database are shared, as when one moves to another cluster. */
interface Installation {
  readonly brokers: string[];
  start(): Promise<void>;
  stop(): Promise<void>;
  cli(...args: readonly string[]): Promise<string>;
  tryCli(...args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }>;
  publish(fleet: string, some: readonly PlainPing[]): Promise<void>;
  events(fleet: string): Promise<string[]>;
  createGeofence(key: string, circle: object): Promise<void>;
  close(): Promise<void>;
}

let folder: string;
let database: TestDatabase;
let receiver: Receiver;
let older: Installation;
let newer: Installation;

async function openInstallation(name: string, partitions: number): Promise<Installation> {
  const dataDir = await openDataDir(join(folder, name));
  const external = { registry: { url: registryUrl }, databaseUrl: database.url };
  const stack: DevStack = await startDevStack({ dataDir, env: process.env, external });
  const env: Record<string, string> = {
    ...secrets,
    KAFKA_BROKERS: stack.kafka.brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    DATABASE_URL: database.url,
    WAYPOST_PARTITIONS: String(partitions),
  };
  let running: BuiltProgram[] = [];
  const tryCli: Installation['tryCli'] = async (...args) => {
    // The keys of fleets are kept in the folder that both share.
    const program = startBuilt('apps/cli/src/main.js', [...args, '--data-dir', folder], env);
    return { code: await program.ended, output: program.output() };
  };
  const cli: Installation['cli'] = async (...args) => {
    const { code, output } = await tryCli(...args);
    if (code !== 0) throw new Error(`waypost ${args.join(' ')} ended with ${String(code)}: ${output}`);
    return output;
  };
  const stop = async (): Promise<void> => {
    await Promise.all(running.map((program) => program.stop()));
    running = [];
  };
  return {
    brokers: [...stack.kafka.brokers],
    cli,
    tryCli,
    async start() {
      for (const app of APPS) {
        const adminPort = String(await dataDir.port(`admin-${app}`));
        const own = { WAYPOST_ADMIN_PORT: adminPort, WAYPOST_PORT: '0' };
        const program = startBuilt(`apps/${app}/src/main.js`, [], { ...env, ...own });
        running.push(program);
        await until(async () => {
          const { status } = await fetch(`http://127.0.0.1:${adminPort}/health/ready`);
          expect([status, program.output()]).toEqual([200, expect.anything()]);
        }, PATIENCE);
      }
      const [, port] = /"port":(\d+)[^\n]*"event":"http_listening"/.exec(running.at(-1)?.output() ?? '') ?? [];
      env['WAYPOST_API_URL'] = `http://127.0.0.1:${String(port)}`;
    },
    stop,
    async publish(fleet, some) {
      const file = join(folder, 'pings.ndjson');
      await writeFile(file, some.map((ping) => JSON.stringify(ping)).join('\n'));
      await cli('publish', file, '--fleet', fleet, '--keep-received-time');
    },
    async events(fleet) {
      const lines = (await cli('read', 'fleet.events', '--until-end')).split('\n').filter((line) => line !== '');
      const events = lines.map((line) => (JSON.parse(line) as { readonly value: Event }).value);
      return events
        .filter(({ fleetId }) => fleetId === fleet)
        .map(({ deviceId, eventType, eventTime, enteredAt }) => {
          const line = eventLine({ deviceId, eventType, eventTime: new Date(eventTime).toISOString() });
          return isOfGeofence(line) ? `${line}, entered ${String(enteredAt)}` : line;
        });
    },
    async createGeofence(key, circle) {
      const response = await fetch(`${env['WAYPOST_API_URL'] ?? ''}/public/v1/geofences`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'Depot', shape: { type: 'circle', ...circle } }),
      });
      expect([response.status, await response.text()]).toEqual([201, expect.anything()]);
    },
    async close() {
      await stop();
      await stack.stop();
    },
  };
}

/** Two brokers and eight applications: with npm run test:long. */
(process.env['WAYPOST_LONG_TESTS'] === undefined ? describe.skip : describe)(
  'state that moves to another cluster with more partitions (R-40)',
  () => {
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'waypost-state-'));
      await chmod(folder, 0o711);
      [database, receiver] = await Promise.all([createTestDatabase(server), startReceiver()]);
      older = await openInstallation('older', PARTITIONS_BEFORE);
    }, 120_000);
    afterAll(async () => {
      await older.close();
      await newer.close();
      await receiver.close();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    }, 120_000);

    const file = (): string => join(folder, 'state.ndjson');

    it('is exported once nothing is unfinished and no application runs', async () => {
      await older.cli('set-up');
      await older.start();
      for (const fleet of [FLEET, STAYING]) {
        const key = (await older.cli('fleet', 'create', fleet, '--routes')).trim().split(' ').at(-1) ?? '';
        for (const radiusInMeters of [400, 1_500, 50_000]) await older.createGeofence(key, { center, radiusInMeters });
      }
      await older.cli('subscribe', '--fleet', FLEET, '--url', receiver.url('/'), '--event-types', eventTypes.join());
      await older.publish(STAYING, pings);
      await older.publish(FLEET, before);
      await older.cli('wait', '--idle', '1');

      const tooEarly = await older.tryCli('state', 'export', file());
      expect(tooEarly).toEqual({ code: 1, output: expect.stringContaining('Stop all applications first') });
      await older.stop();
      const waiting = await queryOnce(
        database.url,
        `INSERT INTO outbox (kind, key, created_at) VALUES ('geofence', 'x', now()) RETURNING id`,
      );
      const unpublished = await older.tryCli('state', 'export', file());
      expect(unpublished).toEqual({ code: 1, output: expect.stringContaining('1 changes are not published yet') });
      await queryOnce(database.url, 'DELETE FROM outbox WHERE id = $1', [waiting[0]?.['id']]);
      expect(await older.cli('state', 'export', file())).toContain('exported');
    }, 240_000);

    it('is not exported if the state of a device is not where the default partitioner puts its pings (R-1)', async () => {
      const kafka = { brokers: older.brokers, clientId: 'state-transfer-test' };
      const publisher = await openRecordPublisher(kafka, topics.deviceState.name);
      const key = Buffer.from(`${FLEET}\u001fvan-1`);
      const partition = (partitionForKey(Buffer.from('van-1'), PARTITIONS_BEFORE) + 1) % PARTITIONS_BEFORE;
      await publisher.publish([{ key, value: null, partition }]);
      await publisher.close();

      const refused = await older.tryCli('state', 'export', join(folder, 'refused.ndjson'));
      expect(refused).toEqual({ code: 1, output: expect.stringContaining('partitioner puts it') });
    }, 240_000);

    it('is imported into new topics only, and once', async () => {
      const inUse = { code: 1, output: expect.stringContaining('Nothing was written') };
      expect(await older.tryCli('state', 'import', file())).toEqual(inUse);

      newer = await openInstallation('newer', 5);
      await newer.cli('set-up');
      expect(await newer.cli('state', 'import', file())).toContain('imported');
      expect(await newer.tryCli('state', 'import', file())).toEqual(inUse);
      // It refuses topics whose settings are not as it makes them.
      expect(await newer.cli('set-up')).toContain('created 0 topics');
    }, 240_000);

    it('continues every device there: all events of the whole journey are sent once, and are in one history', async () => {
      await newer.start();
      await newer.publish(FLEET, after);
      await newer.cli('wait', '--idle', '1');

      const events = [...(await older.events(FLEET)), ...(await newer.events(FLEET))];
      const expected = linesOf(pings);
      // Otherwise the test could not fail: the parts by themselves have other events.
      expect(counts([...linesOf(before), ...linesOf(after)])).not.toEqual(counts(expected));
      const withoutGeofences = events.filter((line) => !isOfGeofence(line));
      expect(differences(withoutGeofences, expected)).toEqual(none);
      const unmoved = await older.events(STAYING);
      expect((await newer.events(FLEET)).filter(isOfGeofence).length).toBeGreaterThan(0);
      expect(differences(events, unmoved)).toEqual(none);
      expect(new Set(receiver.calls.map(({ eventId }) => eventId)).size).toBe(expected.length);
      expect(receiver.calls).toHaveLength(expected.length);
      const history = (await newer.cli('history', '--fleet', FLEET)).trim().split('\n');
      const ids = history.map((line) => (JSON.parse(line) as { readonly eventId: string }).eventId);
      expect(ids.sort()).toEqual(receiver.calls.map(({ eventId }) => eventId).sort());
    }, 240_000);

    it('leaves a history that is not deleted by a rebuild, which could not bring it back', async () => {
      const refused = await newer.tryCli('rebuild', '--yes');
      expect(refused).toEqual({ code: 1, output: expect.stringContaining('they are of earlier topics') });
    }, 60_000);
  },
);
