import { join } from 'node:path';
import {
  openDataDir,
  projectFile,
  startGuardian,
  type DataDir,
  type Guardian,
  type StackReporter,
} from '../../../../tools/dev-stack/index.js';
import type { AppName } from '../../../../tools/dev-stack/start/start-flags.js';
import { createOwnRegistry } from '../../processor/cluster/own-registry.js';
import type { ProjectionIntegrityOptions } from '../projection-integrity-config.js';
import { openProjectionStage } from '../stage/projection-stage.js';
import { faultRun, type FaultRunResult } from './fault-run.js';
import { outageRun, type OutageRunResult } from './outage-run.js';
import { describeFaultRun, describeOutageRun, verdictOf, type ProjectionVerdict } from './projection-verdict.js';

type Suite = Pick<ProjectionIntegrityOptions, 'env' | 'seed' | 'dist'> & {
  readonly options: ProjectionIntegrityOptions;
  readonly registryUrl: (brokers: readonly string[]) => Promise<string>;
  readonly note: (line: string) => void;
};

/** Both runs, one after the other, each on a broker and a database of its own. */
export async function runProjectionSuite(
  options: ProjectionIntegrityOptions,
  folder: string,
  reporter: StackReporter,
): Promise<ProjectionVerdict> {
  const { env, seed, dist } = options;
  const registry = createOwnRegistry({ given: options.registryUrl, env, folder, reporter });
  const note = (line: string): void => {
    reporter.note(line);
  };
  const registryUrl = (brokers: readonly string[]): Promise<string> => registry.url(brokers);
  const suite: Suite = { env, seed, dist, options, registryUrl, note };
  try {
    const faults = options.minutes > 0 ? await withFaults(suite, join(folder, 'faults')) : null;
    const outage = options.outageMinutes > 0 ? await withoutDatabase(suite, join(folder, 'outage')) : null;
    return verdictOf(seed, faults, outage);
  } finally {
    await registry.stop();
  }
}

function withFaults({ options, registryUrl, note, ...suite }: Suite, folder: string): Promise<FaultRunResult> {
  const { seed, attemptsPerSecond, verbose } = options;
  const durationMs = options.minutes * 60_000;
  const seconds = String(Math.round(durationMs / 1_000));
  note(`Faults for ${seconds} s at ${String(attemptsPerSecond)} attempts/s, seed ${String(seed)}`);
  return inDataDir(folder, async (place) => {
    const program = programOf(suite.dist, 'history-projector');
    const stage = await openProjectionStage({ ...place, registryUrl, program, env: suite.env });
    try {
      const load = { seed, durationMs, attemptsPerSecond };
      const waypost = { program: join(builtIn(suite.dist), 'apps/cli/src/main.js'), env: suite.env };
      const result = await faultRun({ stage, ...load, waypost, now: Date.now, note, verbose });
      for (const line of describeFaultRun(result)) note(line);
      return result;
    } finally {
      await stage.stop();
    }
  });
}

function withoutDatabase({ options, registryUrl, note, env, dist }: Suite, folder: string): Promise<OutageRunResult> {
  const awayMs = options.outageMinutes * 60_000;
  note(`The database is away for ${String(Math.round(awayMs / 1_000))} s while deliveries go on`);
  return inDataDir(folder, async (place) => {
    const programs = { sender: programOf(dist, 'webhook-delivery'), projector: programOf(dist, 'history-projector') };
    const result = await outageRun({ ...place, registryUrl, programs, env, awayMs, now: Date.now, note });
    for (const line of describeOutageRun(result)) note(line);
    return result;
  });
}

const builtIn = (dist: string | undefined): string => dist ?? projectFile('dist');

const programOf = (dist: string | undefined, app: AppName): string => join(builtIn(dist), 'apps', app, 'src/main.js');

interface Place {
  readonly dataDir: DataDir;
  readonly guardian: Guardian;
}

async function inDataDir<T>(folder: string, work: (place: Place) => Promise<T>): Promise<T> {
  const dataDir = await openDataDir(folder);
  const guardian = startGuardian({ mark: dataDir.mark, logFile: join(dataDir.logsDir, 'guardian.log') });
  try {
    return await work({ dataDir, guardian });
  } finally {
    // It also ends what a failed start has left.
    await guardian.close();
    await dataDir.release();
  }
}
