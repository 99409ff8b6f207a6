import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { choosePort } from '../../tools/dev-stack/free-port.js';
import { runningWaypost } from '../support/running-waypost.js';
import { subscribe } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';
import {
  type Example,
  type RunningExample,
  runProducer,
  startExample,
  type Toolchain,
  toolchains,
} from './example-toolchains.js';

const fleet = 'example-programs';
const waypost = runningWaypost(sharedDataDir());
/** The other languages, whose packages have to be downloaded and compiled, only in `npm run test:long`. */
const isLong = process.env['WAYPOST_LONG_TESTS'] !== undefined;
const tested = toolchains.filter(({ name }) => isLong || name === 'Node');
const present = tested.filter(({ isPresent }) => isPresent);
const missing = tested.filter(({ isPresent }) => !isPresent);
const producing = ['Node', 'Java', 'Python'];
const receiving = ['Node', 'Python', 'Go'];

interface Receiving {
  readonly url: string;
  readonly secret: string;
  readonly running: RunningExample;
}

const producers = new Map<string, Example>();
const consumers = new Map<string, RunningExample>();
const receivers = new Map<string, Receiving>();

async function prepare(toolchain: Toolchain, workDir: string): Promise<void> {
  const { producer, receiver, consumer } = await toolchain.prepare(workDir);
  if (producer !== undefined) producers.set(toolchain.name, producer);
  if (consumer !== undefined) consumers.set(toolchain.name, startExample(consumer, kafkaEnvironment()));
  if (receiver !== undefined) receivers.set(toolchain.name, await receive(toolchain.name, receiver));
}

function kafkaEnvironment(): Readonly<Record<string, string>> {
  const { brokers, registryUrl } = waypost.info();
  return { KAFKA_BROKERS: brokers.join(','), SCHEMA_REGISTRY_URL: registryUrl };
}

async function receive(name: string, example: Example): Promise<Receiving> {
  const port = String(await choosePort());
  const url = `http://127.0.0.1:${port}/${name.toLowerCase()}`;
  const [subscription] = await subscribe(waypost, { fleet, url, types: ['position'] });
  const secret = subscription?.secret ?? '';
  const running = startExample(example, { SECRET: secret, PORT: port });
  await until(() => expect(running.lines).toContain('listening'));
  return { url, secret, running };
}

/** @returns the status code */
async function postUnsigned(url: string): Promise<number> {
  const headers = { 'webhook-id': 'x', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' };
  return (await fetch(url, { method: 'POST', headers, body: '{}' })).status;
}

/** A signed delivery of the format legacy-v1. @returns the status code */
async function postLegacy({ url, secret }: Receiving, eventId: string): Promise<number> {
  const event = {
    event_id: eventId,
    event: 'position',
    fleet_id: fleet,
    device_id: 'old-van',
    timestamp: 1_795_435_200_000,
  };
  const body = JSON.stringify(event);
  const at = new Date();
  const headers = {
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(eventId, at, body),
  };
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

/** Sends the beginning of a body, and resets the connection while the receiver reads it. */
async function breakOff({ url, running }: Receiving): Promise<void> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const head = [`POST ${pathname} HTTP/1.1`, `host: ${hostname}`, 'content-length: 100', 'expect: 100-continue'];
  const printed = running.lines.length;
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  // "100 Continue": it wants the body.
  await once(socket, 'data');
  await new Promise((resolve) => socket.write('{"eventId"', resolve));
  socket.resetAndDestroy();
  await until(() => expect(running.lines.length).toBeGreaterThan(printed));
}

function deviceOf(language: string): string {
  return `${language.toLowerCase()}-van`;
}

function receiver(language: string): Receiving {
  const found = receivers.get(language);
  if (found === undefined) throw new Error(`No receiver in ${language} was started.`);
  return found;
}

beforeAll(async () => {
  const workDir = join(waypost.dataDir, 'examples');
  await mkdir(workDir, { recursive: true });
  await waypost.createFleet(fleet);
  await Promise.all(present.map((toolchain) => prepare(toolchain, workDir)));
  const published = [...producers].map(([name, producer]) =>
    runProducer(producer, [fleet, deviceOf(name)], kafkaEnvironment()),
  );
  for (const printed of await Promise.all(published)) expect(printed).toContain('published to telemetry.pings-');
}, 300_000);

afterAll(() => {
  for (const { running } of receivers.values()) running.stop();
  for (const running of consumers.values()) running.stop();
});

function names(languages: readonly string[]): string[] {
  return present.map(({ name }) => name).filter((name) => languages.includes(name));
}

describe('The examples (R-38)', () => {
  it.each(names(receiving).flatMap((to) => names(producing).map((from) => [from, to] as const)))(
    'bring a ping from %s to the receiver in %s, which finds it signed',
    async (from, to) => {
      const line = new RegExp(`^position \\S+Z ${deviceOf(from)} [0-9a-f-]{36}$`);
      await until(() => expect(receiver(to).running.lines.filter((printed) => line.test(printed))).toHaveLength(1));
    },
  );

  it.each(names(producing))('let the consumer in Node read the event of a ping that %s has published', async (from) => {
    await until(() => {
      const printed = consumers.get('Node')?.lines ?? [];
      const events = printed.filter((line) => line.includes(`"deviceId":"${deviceOf(from)}"`));
      expect(events).toHaveLength(1);
      expect(events[0]).toContain('"eventType":"position"');
    });
  });

  it.each(names(receiving))('let the receiver in %s refuse what is not signed', async (language) => {
    const { url, running } = receiver(language);
    expect(await postUnsigned(url)).toBe(401);
    await until(() => expect(running.lines.some((printed) => printed.startsWith('refused'))).toBe(true));
  });

  it.each(names(receiving))('let the receiver in %s take the format legacy-v1, twice', async (language) => {
    const eventId = randomUUID();
    for (let count = 0; count < 2; count += 1) expect(await postLegacy(receiver(language), eventId)).toBe(204);
    const line = `position 2026-11-23T12:00:00.000Z old-van ${eventId}`;
    await until(() => expect(receiver(language).running.lines.filter((printed) => printed === line)).toHaveLength(1));
  });

  it.each(names(receiving))(
    'let the receiver in %s live on when a connection breaks in the middle of a body',
    async (language) => {
      await breakOff(receiver(language));
      expect(await postUnsigned(receiver(language).url)).toBe(401);
    },
  );

  // Reported: a machine without the toolchain proves nothing.
  for (const { name } of missing) it.skip(`are run in ${name}, which this machine does not have`, () => undefined);
});
