import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { compareRows, readPoints, readRows } from './rows.js';
import type { ProjectionStage } from './stage.js';

export interface CommandLine {
  /** The built main file of waypost. */
  readonly program: string;
  /** A user's. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface RebuildRunResult {
  /** From the deletion until the command said that all is there again. */
  readonly rebuiltAfterMs: number;
  readonly problems: readonly string[];
}

/** In which the projectors have begun and are not done. */
const UNDISTURBED_MS = 300;
const DOWN_MS = 500;

/**
 * `waypost rebuild` on tables that are known to be right. The command and a projector are killed in the middle of it; the
 * same command, with `--watch`, completes it. Deliveries and paths have to be the same afterwards, byte for byte.
 */
export async function rebuildRun(
  { database, projectors, kafka, registryUrl }: ProjectionStage,
  { program, env }: CommandLine,
): Promise<RebuildRunResult> {
  const stack = {
    KAFKA_BROKERS: kafka.brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    DATABASE_URL: database.url,
  };
  const waypost = (...args: string[]): ChildProcess =>
    spawn(process.execPath, [program, ...args], { env: { ...env, ...stack }, stdio: ['ignore', 'pipe', 'pipe'] });
  const before = await database.query(readRows);
  const pointsBefore = await database.query(readPoints);

  // The made-up log has attempts of earlier days, which look as if they were of a log before this one.
  const interrupted = waypost('rebuild', '--yes', '--without-earlier');
  await saysThatItIsEmpty(interrupted);
  const startedAt = performance.now();
  await sleep(UNDISTURBED_MS);
  interrupted.kill('SIGKILL');
  await projectors[0]?.instance.kill();
  await sleep(DOWN_MS);
  projectors[0]?.instance.start();

  const said = await output(waypost('rebuild', '--watch'));
  const rebuiltAfterMs = Math.round(performance.now() - startedAt);
  const differences = compareRows(before, await database.query(readRows));
  const pointsAfter = await database.query(readPoints);
  const isSame = pointsBefore.length === pointsAfter.length && pointsBefore.every((one, at) => one === pointsAfter[at]);
  if (!isSame)
    differences.push(`the paths differ: ${String(pointsBefore.length)} and ${String(pointsAfter.length)} points`);
  const unclear = said.includes('projected up to the end of the logs') ? [] : [`"rebuild --watch" says: ${said}`];
  return { rebuiltAfterMs, problems: [...unclear, ...differences.map((one) => `after the rebuild ${one}`)] };
}

async function saysThatItIsEmpty(child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
  const exited = once(child, 'exit');
  const emptied = new Promise<boolean>((resolve) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('history deleted')) resolve(true);
    });
  });
  if (!(await Promise.race([emptied, exited.then(() => false)]))) throw new Error(`waypost rebuild has ended: ${said}`);
}

async function output(child: ChildProcess): Promise<string> {
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (said += text));
  await once(child, 'close');
  return said;
}
