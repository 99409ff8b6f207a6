/**
 * Starts the product once for all end-to-end tests of a run, as a user does, and says where it is:
 * WAYPOST_TEST_DATA_DIR. Each test works with fleets of its own. The product ends with this process, however that ends.
 */
import '../typescript-loader.mjs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const keptLogs = fileURLToPath(new URL('../../../.waypost/test-results/e2e-logs/', import.meta.url));

/** They would lead the command line to another stack. */
const ADDRESSES = ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'DATABASE_URL', 'WAYPOST_API_URL', 'WAYPOST_ADMIN_URLS'];

export default async function start() {
  for (const name of ADDRESSES) delete process.env[name];
  const { startWaypost } = await import('../start-waypost.ts');
  const waypost = await startWaypost();
  globalThis.waypostOfEndToEndTests = waypost;
  process.env.WAYPOST_TEST_DATA_DIR = waypost.dataDir;
}

/** Keeps the logs: only now is it known which tests failed, and not here. */
export async function stop() {
  const waypost = globalThis.waypostOfEndToEndTests;
  await rm(keptLogs, { recursive: true, force: true });
  await mkdir(keptLogs, { recursive: true });
  await cp(join(waypost.dataDir, 'logs'), keptLogs, { recursive: true });
  await waypost.stop();
  await writeFile(join(keptLogs, 'npm-start.log'), waypost.output());
  process.stderr.write(`The product's logs of the end-to-end tests are in ${keptLogs}\n`);
}
