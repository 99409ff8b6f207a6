import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { keyIdOf } from '@waypost/domain';
import { openReseal, type Reseal } from '@waypost/management-store';
import { BootError, parseConfig, sealingKeysConfig } from '@waypost/platform/without-nest';
import { type StackEnvironment, stackEnvironment } from '../stack/stack-config.js';
import { CliError, createProgress, createStatusLine, type Terminal, writeLine } from '../terminal/output.js';

export interface ResealSecretsOptions {
  readonly dataDir: string;
  readonly now: () => number;
  /** How long the outbox may stand still before the command gives up. Default 30 s. */
  readonly patienceMs?: number;
}

/** Seals every stored secret under the newest key and waits until all of it is in the topic. */
export async function resealSecrets(terminal: Terminal, options: ResealSecretsOptions): Promise<void> {
  const { dataDir, now, patienceMs = 30_000 } = options;
  const stack = await stackEnvironment(dataDir);
  const keys = await sealingKeysOf(stack, dataDir);
  const [newest] = keys;
  if (newest === undefined) throw new CliError('WAYPOST_SEALING_KEY has no key.');
  const reseal = await openReseal(stack.require('DATABASE_URL'), { keys, randomBytes, now });
  try {
    const { resealed, total, unreadable } = await resealWithProgress(terminal, reseal);
    await untilPublished(terminal, reseal, patienceMs);
    const subscriptions = `${String(resealed)} of ${String(total)} subscriptions`;
    await writeLine(terminal.out, `resealed ${subscriptions} under key ${keyIdOf(newest)}, all published`);
    if (unreadable.length > 0) throw unreadableSecrets(unreadable);
  } finally {
    await reseal.close();
  }
}

async function resealWithProgress(terminal: Terminal, reseal: Reseal) {
  let bar: ReturnType<typeof createProgress> | undefined;
  try {
    return await reseal.run(({ total, read, resealed }) => {
      bar ??= createProgress(terminal, total);
      bar.update(read, `${String(resealed)} resealed`);
    });
  } finally {
    bar?.stop();
  }
}

/** The outbox belongs to public-api, which publishes what this command has changed. */
async function untilPublished(terminal: Terminal, reseal: Reseal, patienceMs: number): Promise<void> {
  const status = createStatusLine(terminal);
  try {
    let waiting = await reseal.unpublished();
    for (let waitedMs = 0; waiting > 0; waitedMs += 250) {
      if (waitedMs >= patienceMs) throw notPublished(waiting);
      status.show(`waiting for public-api to publish ${String(waiting)} changes`);
      await delay(250);
      const left = await reseal.unpublished();
      if (left < waiting) waitedMs = 0;
      waiting = left;
    }
  } finally {
    status.clear();
  }
}

function notPublished(waiting: number): CliError {
  return new CliError(
    `All secrets are resealed, but ${String(waiting)} changes are waiting in the outbox: is public-api running? Run the command ` +
      'again to check that they are published, and keep the old key until then.',
  );
}

function unreadableSecrets(ids: readonly string[]): CliError {
  const shown = ids.slice(0, 10).join(', ') + (ids.length > 10 ? ', ...' : '');
  return new CliError(
    `${String(ids.length)} subscriptions have a secret that no configured key can decrypt: ${shown}. Add the right key, or ` +
      'rotate the secret of the subscription.',
  );
}

/** The environment's keys, or those that `npm start` made for the data directory. */
async function sealingKeysOf({ variables }: StackEnvironment, dataDir: string): Promise<readonly Buffer[]> {
  const WAYPOST_SEALING_KEY = variables['WAYPOST_SEALING_KEY'] ?? (await sealingKeyIn(join(dataDir, 'keys.json')));
  try {
    return parseConfig(sealingKeysConfig, { WAYPOST_SEALING_KEY });
  } catch (error) {
    if (error instanceof BootError) throw new CliError(error.message, 1, { cause: error });
    throw error;
  }
}

async function sealingKeyIn(file: string): Promise<string | undefined> {
  try {
    return (JSON.parse(await readFile(file, 'utf8')) as { sealingKey?: string }).sealingKey;
  } catch {
    return undefined;
  }
}
