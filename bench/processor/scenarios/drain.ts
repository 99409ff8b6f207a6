import { sumUsage, usageOf } from '../../shared/processes/process-usage.js';
import { type Answer, answerText } from '../answer.js';
import type { BenchContext } from '../bench-context.js';
import { anyFailure, type Configuration, type Deployment, measureWithAnswer } from '../sides/deployment.js';
import { watchGroup } from '../stack/bench-groups.js';
import { INPUT } from '../stack/bench-topics.js';

/** One drained backlog. */
export interface DrainRun {
  readonly configuration: Configuration;
  readonly records: number;
  /** From the start of the processes to the commit of the last record. */
  readonly seconds: number;
  /** Without the start: from the first commit that was seen. */
  readonly streamingPerSecond: number;
  /** Of the processes under measurement. */
  readonly cpuSeconds: number;
  readonly brokerCpuSeconds: number;
  readonly peakMiB: number;
  readonly answer: Answer;
}

/** Starts the configuration on empty outputs and waits until the backlog is committed. */
export async function drainOnce(context: BenchContext, configuration: Configuration): Promise<DrainRun> {
  return context.reporter.during(configuration.label, async () => {
    const run = await measureWithAnswer(context, configuration, (deployment) => measure(context, deployment));
    context.reporter.note(drainText(run));
    return run;
  });
}

async function measure(
  context: BenchContext,
  deployment: Deployment,
): Promise<Omit<DrainRun, 'configuration' | 'answer'>> {
  const { admin, stack, now } = context;
  const watch = await watchGroup(admin, deployment.groupId, INPUT, now);
  const brokerBefore = usageOf(stack.brokerPid).cpuSeconds;
  const startedAtMs = now();
  const processes = await deployment.startAll();
  try {
    const signal = anyFailure(context, processes);
    const first = await watch.until(({ done }) => done > 0, { signal });
    const last = await watch.until(({ left }) => left === 0, { signal });
    const usage = sumUsage(processes.map((process_) => process_.usage()));
    return {
      records: watch.total,
      seconds: (last.atMs - startedAtMs) / 1000,
      streamingPerSecond: (last.done - first.done) / ((last.atMs - first.atMs) / 1000),
      ...usage,
      brokerCpuSeconds: usageOf(stack.brokerPid).cpuSeconds - brokerBefore,
    };
  } finally {
    await Promise.all(processes.map((process_) => process_.stop()));
  }
}

export function perSecond({ records, seconds }: DrainRun): number {
  return records / seconds;
}
export function perCpuSecond({ records, cpuSeconds }: DrainRun): number {
  return records / cpuSeconds;
}

function drainText(run: DrainRun): string {
  const k = (rate: number): string => `${(rate / 1000).toFixed(0)}k/s`;
  return [
    `  ${run.configuration.label}: ${run.seconds.toFixed(2)} s, ${k(perSecond(run))} from start`,
    `${k(run.streamingPerSecond)} from the first commit`,
    `CPU ${run.cpuSeconds.toFixed(1)} s (${k(perCpuSecond(run))} of it), broker ${run.brokerCpuSeconds.toFixed(1)} s`,
    `peak ${run.peakMiB.toFixed(0)} MiB`,
    answerText(run.answer),
  ].join('; ');
}
