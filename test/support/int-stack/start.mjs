/**
 * Boots one embedded stack for all integration tests of a run and says where it is: WAYPOST_TEST_BROKERS,
 * WAYPOST_TEST_REGISTRY_URL, WAYPOST_TEST_DATABASE_URL. It is a process of its own that lives as long as its standard
 * input, which ends with this process, however that ends. Topics and schemas are there before the first test: two suites
 * that register the same schema at the same time get in each other's way.
 */
import '../typescript-loader.mjs';
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = new URL('../../../', import.meta.url);

export default async function startStack() {
  const dataDir = await mkdtemp(join(tmpdir(), 'waypost-int-'));
  // As root, Postgres runs as another user, who has to get in.
  await chmod(dataDir, 0o711);
  const child = spawn(
    process.execPath,
    ['--import', './test/support/typescript-loader.mjs', 'tools/dev-stack/serve.ts', '--data-dir', dataDir],
    { cwd: root, stdio: ['pipe', 'pipe', 'pipe'], detached: true },
  );
  const said = [];
  child.stderr.setEncoding('utf8').on('data', (text) => said.push(text));
  child.stderr.pipe(createWriteStream(join(dataDir, 'serve.log')));
  const exited = new Promise((resolve) => child.once('exit', resolve));
  globalThis.waypostIntStack = { child, dataDir, exited };

  const stack = await Promise.race([firstLine(child), exited.then(() => null)]);
  if (stack === null) throw new Error(`The embedded stack of the integration tests does not start:\n${said.join('')}`);
  // Given: a registry that may be filled, in place of the embedded one.
  const registryUrl = process.env.WAYPOST_TEST_OTHER_REGISTRY_URL ?? stack.registryUrl;
  await setUp({ brokers: stack.brokers, registryUrl });
  process.env.WAYPOST_TEST_BROKERS = stack.brokers.join(',');
  process.env.WAYPOST_TEST_REGISTRY_URL = registryUrl;
  process.env.WAYPOST_TEST_DATABASE_URL = stack.databaseUrl;
}

async function setUp({ brokers, registryUrl }) {
  const { setUpKafka } = await import('../../../libs/contracts/src/index.ts');
  const { openTopicAdmin } = await import('../../../libs/streams/src/index.ts');
  const admin = await openTopicAdmin({ brokers, clientId: 'int-stack' });
  await setUpKafka({ admin, registryUrl, partitions: 4, replicationFactor: 1 });
  await admin.close();
}

async function firstLine(child) {
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line);
  return null;
}

export async function stopStack() {
  const { child, dataDir, exited } = globalThis.waypostIntStack;
  child.stdin.end();
  await exited;
  // Children of a PostgreSQL that had to be killed write for a moment longer.
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
