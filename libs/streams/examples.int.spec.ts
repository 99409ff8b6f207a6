import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, type KafkaMessage, logLevel, Partitioners } from 'kafkajs';
import { packCopy, type PackedPackage } from '../../test/support/packed-package.js';
import { requireTestStack } from '../../test/support/test-stack.js';
import { until } from '../../test/support/until.js';

const packageFolder = new URL('.', import.meta.url).pathname;
const brokers = requireTestStack().brokers.join(',');
const kafka = new Kafka({ brokers: brokers.split(','), clientId: 'examples', logLevel: logLevel.NOTHING });
const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
let project: string;
let packed: PackedPackage;
let children: ChildProcess[] = [];

/** An empty project with nothing but the packed package, as a stranger has it. */
beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'streams-example-'));
  packed = await packCopy(packageFolder, project);
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  execFileSync('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', packed.tarball], {
    cwd: project,
    stdio: 'pipe',
  });
  cpSync(join(project, 'node_modules/@waypost/streams/examples'), join(project, 'examples'), { recursive: true });
  await producer.connect();
}, 180_000);

afterEach(async () => {
  await Promise.all(children.map((child) => stopped(child)));
  children = [];
});

afterAll(async () => {
  await producer.disconnect();
  rmSync(project, { recursive: true, force: true });
});

async function stopped(child: ChildProcess): Promise<number | null> {
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  return child.exitCode ?? (await exited);
}

/** Runs an example until the test ends. @returns the prefix of its topics */
async function started(example: string): Promise<string> {
  const prefix = `${randomUUID()}.`;
  await run(join('examples', example), prefix);
  return prefix;
}

/** The first example of the README on topics of its own, compiled as its readers do. @returns the prefix of its topics */
async function startedReadme(): Promise<string> {
  const prefix = `${randomUUID()}.`;
  const readme = readFileSync(join(project, 'node_modules/@waypost/streams/README.md'), 'utf8');
  const [, block = ''] = /^```ts\n([^]*?)^```/m.exec(readme) ?? [];
  const program = block
    .replaceAll(/((?:applicationId|source|topic|changelogTopic|name): )'/gi, `$1'${prefix}`)
    .replace("['127.0.0.1:9092']", JSON.stringify(brokers.split(',')));
  writeFileSync(join(project, 'readme.ts'), `${program}console.log('running');\n`);
  const [types, modules] = [join(project, 'node_modules/@types'), join(import.meta.dirname, '../../node_modules')];
  mkdirSync(types, { recursive: true });
  symlinkSync(join(modules, '@types/node'), join(types, 'node'));
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node', 'readme.ts'];
  execFileSync(process.execPath, [join(modules, 'typescript/bin/tsc'), ...options], { cwd: project, stdio: 'inherit' });
  await run('readme.js', prefix);
  return prefix;
}

async function run(program: string, prefix: string): Promise<void> {
  const env = { ...process.env, NODE_OPTIONS: '', KAFKA_BROKERS: brokers, PREFIX: prefix };
  const child = spawn(process.execPath, [program], { cwd: project, env, stdio: 'pipe' });
  children.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += String(text)));
  await until(() => {
    if (child.exitCode !== null) throw new Error(said);
    return Promise.resolve(said.includes('running'));
  });
}

/** The committed records of a topic, once there are `count`. */
async function read(topic: string, count: number): Promise<KafkaMessage[]> {
  const consumer = kafka.consumer({ groupId: randomUUID() });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const messages: KafkaMessage[] = [];
  await consumer.run({ eachMessage: ({ message }) => Promise.resolve(void messages.push(message)) });
  await until(() => Promise.resolve(messages.length >= count));
  await consumer.disconnect();
  return messages;
}

function textOf({ key, value }: KafkaMessage): string {
  return `${String(key)}=${String(value)}`;
}

describe('the packed package in an empty project', () => {
  it('has left nothing built beside its sources, where the product would import it in place of them', () => {
    expect(existsSync(join(packed.source, 'dist'))).toBe(false);
  });

  it('runs the first example of the README, compiled strictly', async () => {
    const prefix = await startedReadme();
    const messages = ['Utrecht', 'Utrecht', 'Zwolle'].map((value) => ({ key: 'parcel', value }));
    await producer.send({ topic: `${prefix}scans`, messages });
    expect((await read(`${prefix}moves`, 2)).map(textOf)).toEqual(['parcel=Utrecht', 'parcel=Zwolle']);
  }, 180_000);

  it('has an entry for tools, and one for metrics where prom-client is installed', () => {
    symlinkSync(join(import.meta.dirname, '../../node_modules/prom-client'), join(project, 'node_modules/prom-client'));
    const namesOf = (entry: string): string =>
      execFileSync(
        process.execPath,
        ['--input-type=module', '-e', `console.log(Object.keys(await import('${entry}')).join())`],
        { cwd: project, encoding: 'utf8' },
      ).trim();
    expect(namesOf('@waypost/streams/admin')).toBe(
      'connectKafka,openAdmin,readToEnd,settleOrAbort,toError,untilTopicsKnown,waitOrAbort',
    );
    expect(namesOf('@waypost/streams/prometheus')).toBe(
      'registerStallMetrics,registerTaskMetrics,registerTransactionMetrics',
    );
  });

  it('counts words', async () => {
    const prefix = await started('word-count.mjs');
    const sentences = ['The van is late', 'the VAN, the van!'];
    await producer.send({ topic: `${prefix}sentences`, messages: sentences.map((value) => ({ key: 'k', value })) });
    const counts = await read(`${prefix}counts`, 8);
    expect(counts.map(textOf).sort()).toEqual(
      ['is=1', 'late=1', 'the=1', 'the=2', 'the=3', 'van=1', 'van=2', 'van=3'].sort(),
    );
  });

  it('ends sessions by the time of the records, however late they are read', async () => {
    const prefix = await started('sessions.mjs');
    const now = Date.now();
    const click = (key: string, secondsAgo: number) =>
      producer.send({
        topic: `${prefix}clicks`,
        messages: [{ key, value: null, partition: 0, timestamp: String(now - secondsAgo * 1_000) }],
      });
    await click('user-1', 200);
    await click('user-1', 180);
    await click('user-1', 190);
    // Ends the first session of the user, and that of another user the second.
    await click('user-1', 130);
    await click('user-2', 60);
    const sessions = await read(`${prefix}sessions`, 2);
    expect(sessions.map(({ value }) => JSON.parse(String(value)) as unknown)).toEqual([
      { firstClickAt: now - 200_000, lastClickAt: now - 180_000, clicks: 3 },
      { firstClickAt: now - 130_000, lastClickAt: now - 130_000, clicks: 1 },
    ]);
  });

  it('joins two streams, as far as both come within an hour', async () => {
    const prefix = await started('stream-join.mjs');
    const now = Date.now();
    const send = (topic: string, key: string, secondsAgo: number) =>
      producer.send({
        topic: `${prefix}${topic}`,
        messages: [{ key, value: `${topic} ${key}`, partition: 0, timestamp: String(now - secondsAgo * 1_000) }],
      });
    await send('orders', 'late', 7_200);
    await send('orders', 'book', 60);
    await send('payments', 'late', 1);
    await send('payments', 'book', 0);
    expect((await read(`${prefix}paid`, 1)).map(textOf)).toEqual(['book=orders book']);
  });

  it('joins records with a table', async () => {
    const prefix = await started('table-join.mjs');
    await producer.send({ topic: `${prefix}customers`, messages: [{ key: 'ada', value: 'Utrecht' }] });
    const orders = ['ada', 'bob'].map((key) => ({ key, value: 'book' }));
    await producer.send({ topic: `${prefix}orders`, messages: orders });
    const [delivery] = await read(`${prefix}deliveries`, 1);
    expect([String(delivery?.key), String(delivery?.headers?.['address'])]).toEqual(['ada', 'Utrecht']);
    expect((await read(`${prefix}strangers`, 1)).map(textOf)).toEqual(['bob=book']);
  });

  it('stops in order on SIGTERM', async () => {
    await started('word-count.mjs');
    const [child] = children.splice(0);
    expect(child && (await stopped(child))).toBe(0);
  });
});
