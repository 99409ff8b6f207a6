import { join } from 'node:path';
import { openDataDir, startGuardian, type StackReporter } from '../../../../tools/dev-stack/index.js';
import { builtPrograms } from '../../../../tools/dev-stack/start/programs.js';
import { createOwnRegistry } from '../cluster/own-registry.js';
import type { IntegrityOptions, RunName } from '../integrity-config.js';
import { failoverProblems, measureFailover, type FailoverTimes } from './failover.js';
import { faultRun, type FaultRunResult } from './fault-run.js';
import { openStage, type Stage } from './stage.js';
import { describeRun, verdictOf, type Verdict } from './verdict.js';

/** A cluster has more to lose and takes longer to mend: it gets the larger share of the time. */
const SHARE = { single: 0.4, cluster: 0.6 } as const;

/** All runs that were asked for, one after the other, each on a cluster of its own. */
export async function runSuite(options: IntegrityOptions, folder: string, reporter: StackReporter): Promise<Verdict> {
  const { seed, runs } = options;
  const registry = createOwnRegistry({ given: options.registryUrl, env: options.env, folder, reporter });
  const results: FaultRunResult[] = [];
  let failover: FailoverTimes | null = null;
  const on = <T>(run: RunName, work: (stage: Stage) => Promise<T>): Promise<T> =>
    withStage({ options, folder, reporter, run, registryUrl: registry.url }, work);
  const note = (line: string): void => {
    reporter.note(line);
  };
  try {
    if (runs.includes('failover')) failover = await on('failover', (stage) => measureFailover(stage, { seed, note }));
    if (failover?.busyMachine === true)
      note('The machine is busy with other things: the failover times are not judged.');
    const faulty = runs.filter((run) => run !== 'failover');
    const total = faulty.reduce((sum, run) => sum + SHARE[run], 0);
    for (const run of faulty) {
      const durationMs = (options.minutes * 60_000 * SHARE[run]) / total;
      note(
        `Faults on ${run === 'single' ? 'one broker' : 'three brokers'} for ${String(Math.round(durationMs / 1_000))} s, seed ${String(seed)}`,
      );
      const result = await on(run, (stage) => faultRun({ stage, seed, durationMs, note, verbose: options.verbose }));
      results.push(result);
      for (const line of describeRun(result)) note(line);
    }
  } finally {
    await registry.stop();
  }
  return verdictOf(seed, results, failover, failover === null ? [] : failoverProblems(failover));
}

interface StageContext {
  readonly options: IntegrityOptions;
  readonly folder: string;
  readonly reporter: StackReporter;
  readonly run: RunName;
  readonly registryUrl: (brokers: readonly string[]) => Promise<string>;
}

async function withStage<T>(context: StageContext, work: (stage: Stage) => Promise<T>): Promise<T> {
  const { options, folder, reporter, run, registryUrl } = context;
  const dataDir = await openDataDir(join(folder, run));
  const guardian = startGuardian({ mark: dataDir.mark, logFile: join(dataDir.logsDir, 'guardian.log') });
  const brokers = run === 'cluster' ? 3 : 1;
  const program = builtPrograms().apps['telemetry-processor'];
  let stage: Stage | undefined;
  try {
    stage = await reporter.during(`Starting ${brokers === 1 ? 'a broker' : 'three brokers and a controller'}`, () =>
      openStage({ dataDir, guardian, brokers, registryUrl, program, env: options.env }),
    );
    return await work(stage);
  } finally {
    await stage?.stop();
    // It also ends what a failed start has left.
    await guardian.close();
    await dataDir.release();
  }
}
