/*
 * Runs every program of the image without a container engine: `npm run test:deploy -- --only image`. The files of its last
 * stage are laid out in a folder as the Dockerfile says, and started from there as its user, with Node.js of the image's
 * version (`--node FILE`), against an embedded stack. What is missing in the image is missing here.
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openDataDir, projectRoot, startDevStack } from '../../../tools/dev-stack/index.js';
import { until } from '../../support/until.js';
import { readDockerfile } from './dockerfile.js';
import { layOutImage } from './image-folder.js';
import { finishInImage, type ImageProgram, runInImage } from './image-program.js';

const APPS = ['telemetry-processor', 'webhook-delivery', 'history-projector', 'public-api'];
/** Against hanging only. */
const patience = { timeoutMs: 180_000 };

const { values } = parseArgs({ options: { node: { type: 'string', default: process.execPath } } });

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const recipe = readDockerfile(await readFile(join(projectRoot(), 'Dockerfile'), 'utf8'));
const image = await layOutImage({ recipe, checkout: projectRoot(), node: values.node });
const folder = await mkdtemp(join(tmpdir(), 'waypost-image-stack-'));
await chmod(folder, 0o711);
const dataDir = await openDataDir(folder);
const stack = await startDevStack({ dataDir, env: process.env, durable: false });
const running: ImageProgram[] = [];

const shared = {
  KAFKA_BROKERS: stack.kafka.brokers.join(','),
  SCHEMA_REGISTRY_URL: stack.registryUrl,
  DATABASE_URL: stack.databaseUrl,
  WAYPOST_SEALING_KEY: randomBytes(32).toString('base64'),
  WAYPOST_PAGE_TOKEN_KEY: randomBytes(32).toString('base64'),
  WAYPOST_EGRESS_ALLOW: '127.0.0.0/8',
  WAYPOST_ALLOW_HTTP: 'true',
};

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): ImageProgram {
  const program = runInImage(args, { root: image.root, recipe, env: { ...shared, ...env } });
  running.push(program);
  return program;
}

async function says(program: ImageProgram, pattern: RegExp): Promise<void> {
  await until(() => {
    if (!pattern.test(program.output())) throw new Error(`${program.name} has said so far: ${program.output()}`);
  }, patience);
}

/** @returns the address of the API */
async function startApplications(): Promise<string> {
  const apiPort = await dataDir.port('api');
  for (const name of APPS) {
    const adminPort = await dataDir.port(`admin-${name}`);
    const app = start([name], { WAYPOST_ADMIN_PORT: String(adminPort), WAYPOST_PORT: String(apiPort) });
    await until(() => app.isHealthy(), patience);
    say(`${name} is healthy.`);
  }
  return `http://127.0.0.1:${String(apiPort)}`;
}

try {
  const done = await finishInImage(['waypost', 'set-up', '--tables'], { root: image.root, recipe, env: shared });
  say(`set-up: ${done.trim().replaceAll('\n', ', ')}.`);
  const apiUrl = await startApplications();
  const page = await (await fetch(`${apiUrl}/`)).text();
  if (!page.includes('<script')) throw new Error(`public-api serves no console: ${page.slice(0, 200)}`);
  const subscriber = start(['demo-subscriber'], { WAYPOST_API_URL: apiUrl });
  await says(subscriber, /listening on/);
  start(['simulator', '--speed-up', '30']);
  await says(subscriber, /verified [1-9]/);
  say('A simulated ping was delivered, and its signature verified.');
  for (const program of running.splice(0).reverse()) {
    const code = await program.stop();
    if (code !== 0) throw new Error(`${program.name} stopped with ${String(code)}: ${program.output().slice(-2_000)}`);
  }
  say('All programs of the image ran and stopped cleanly.');
} finally {
  await Promise.all(running.map((program) => program.stop()));
  await stack.stop();
  await image.remove();
  await rm(folder, { recursive: true, force: true });
}
