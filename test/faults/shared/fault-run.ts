import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../../tools/simulator/random.js';
import type { SuiteContext } from './fault-suite.js';

/** A fault as data: a schedule of them can be printed, repeated and checked before anything is broken. */
export interface AnyFault {
  readonly kind: string;
}

export interface Scheduled<F extends AnyFault> {
  /** From the start of the schedule. */
  readonly atMs: number;
  readonly fault: F;
}

export type FaultCounts = Readonly<Record<string, number>>;

export interface Injector<F extends AnyFault> {
  /** Injects it once the earlier faults of its targets are over; does not wait for it. */
  inject(fault: F): void;
  /** Resolves when all faults are over and everything is restored. */
  settled(): Promise<void>;
  /** Faults that have really been made. */
  readonly counts: FaultCounts;
  readonly injected: () => number;
  /** Faults that could not be made. */
  readonly problems: readonly string[];
}

export interface InjectorOptions<F extends AnyFault> {
  /** Faults of one target come one after another; those of different targets may overlap. */
  readonly targetsOf: (fault: F) => readonly string[];
  /** Resolves when the fault is over; false: there was nothing to break. */
  readonly apply: (fault: F) => Promise<boolean>;
}

export function createInjector<F extends AnyFault>({ targetsOf, apply }: InjectorOptions<F>): Injector<F> {
  const counts: Record<string, number> = {};
  const problems: string[] = [];
  const chains = new Map<string, Promise<void>>();

  async function make(fault: F): Promise<void> {
    try {
      if (await apply(fault)) counts[fault.kind] = (counts[fault.kind] ?? 0) + 1;
    } catch (error) {
      problems.push(`${describeFault(fault)} could not be made: ${String(error)}`);
    }
  }
  return {
    counts,
    problems,
    injected: () => Object.values(counts).reduce((sum, count) => sum + count, 0),
    inject(fault) {
      const targets = targetsOf(fault);
      const earlier = Promise.all(targets.map((target) => chains.get(target) ?? Promise.resolve()));
      const done = earlier.then(() => make(fault));
      for (const target of targets) chains.set(target, done);
    },
    async settled() {
      await Promise.all(chains.values());
    },
  };
}

export interface PlayOptions<F extends AnyFault, Sent> {
  readonly suite: Pick<SuiteContext, 'note' | 'verbose'>;
  readonly schedule: readonly Scheduled<F>[];
  readonly durationMs: number;
  readonly injector: Injector<F>;
  /** The position of the work; null while it is unknown. */
  readonly position?: () => Promise<number | null>;
  /** How far the run is, from time to time. */
  readonly report: () => Promise<string>;
  /** Ends the traffic once the last fault is over. */
  readonly stopTraffic: () => Promise<Sent>;
  /** What is still to be done, and which instances are not ready. */
  readonly whatIsLeft: (sent: Sent) => Promise<readonly string[]>;
  readonly drainWithinMs: number;
  /** Kinds that must really have been made if the schedule has them: what the run is to prove depends on them. */
  readonly required?: readonly F['kind'][];
}

const REPORT_EVERY_MS = 10_000;

/** Makes the faults of the schedule while traffic flows; then everything has to be restored, ready and done. */
export async function runFaults<F extends AnyFault, Sent>(
  options: PlayOptions<F, Sent>,
): Promise<{ readonly sent: Sent; readonly drained: Drained }> {
  const { suite, report, stopTraffic, whatIsLeft, drainWithinMs } = options;
  const reporting = setInterval(() => {
    // What cannot be found out this time is reported the next time.
    report().then(suite.note, () => undefined);
  }, REPORT_EVERY_MS);
  try {
    await play(options);
    const sent = await stopTraffic();
    suite.note('  the last fault is over; everything has to be done now');
    const { afterMs, problems } = await drain(() => whatIsLeft(sent), drainWithinMs);
    return { sent, drained: { afterMs, problems: [...problems, ...notMade(options)] } };
  } finally {
    clearInterval(reporting);
  }
}

function notMade<F extends AnyFault>({
  schedule,
  injector,
  required = [],
}: Pick<PlayOptions<F, unknown>, 'schedule' | 'injector' | 'required'>): string[] {
  const scheduled = new Set(schedule.map(({ fault }) => fault.kind));
  const missing = required.filter((kind) => scheduled.has(kind) && (injector.counts[kind] ?? 0) === 0);
  return missing.map((kind) => `no ${kind} was made, although the schedule has one`);
}

/** On a slow machine the schedule waits: faults in an application that makes no progress anyway prove nothing. */
const FAULTS_WITHOUT_PROGRESS = 4;
/** Longer than any pause and what follows from it. */
const PROGRESS_TIMEOUT_MS = 45_000;
const POLL_MS = 400;

/** Makes the faults of the schedule at their times; resolves when the duration is over and everything is restored. */
async function play<F extends AnyFault, Sent>(options: PlayOptions<F, Sent>): Promise<void> {
  const { schedule, durationMs, injector, position, suite } = options;
  const startedAt = performance.now();
  const elapsedMs = (): number => performance.now() - startedAt;
  let heldUpMs = 0;
  for (const [index, { atMs, fault }] of schedule.entries()) {
    const mayWait = index % FAULTS_WITHOUT_PROGRESS === 0 && heldUpMs < durationMs;
    if (position !== undefined && mayWait) heldUpMs += await untilProgress(position);
    await sleep(Math.max(0, atMs + heldUpMs - elapsedMs()));
    if (suite.verbose) suite.note(`  ${(elapsedMs() / 1_000).toFixed(1)} s ${describeFault(fault)}`);
    injector.inject(fault);
  }
  await sleep(Math.max(0, durationMs + heldUpMs - elapsedMs()));
  await injector.settled();
}

/** @returns the time that it took until the position grew, or the longest time to wait for it */
async function untilProgress(position: () => Promise<number | null>): Promise<number> {
  const startedAt = performance.now();
  let before: number | null = null;
  for (;;) {
    const elapsedMs = performance.now() - startedAt;
    const now = await position();
    if (elapsedMs > PROGRESS_TIMEOUT_MS || (now !== null && before !== null && now > before)) return elapsedMs;
    before ??= now;
    await sleep(POLL_MS);
  }
}

export interface Drained {
  /** From the call until nothing was left; null: that never came. */
  readonly afterMs: number | null;
  readonly problems: readonly string[];
}

/** Waits until nothing is left to do and every process is ready. */
export async function drain(whatIsLeft: () => Promise<readonly string[]>, withinMs: number): Promise<Drained> {
  const startedAt = performance.now();
  for (;;) {
    const problems = await whatIsLeft().catch((error: unknown) => [String(error)]);
    const afterMs = Math.round(performance.now() - startedAt);
    if (problems.length === 0) return { afterMs, problems };
    if (afterMs > withinMs) return { afterMs: null, problems: problems.map((one) => `stuck: ${one}`) };
    await sleep(POLL_MS);
  }
}

function describeFault({ kind, ...values }: AnyFault): string {
  return [kind, ...Object.entries(values).map(([name, value]) => `${name} ${String(value)}`)].join(' ');
}

/** The lines of a report: faults by kind, the summary, and what is broken. */
export function describeResult(
  faults: FaultCounts,
  summary: readonly string[],
  problems: readonly string[],
  intact: string,
): string[] {
  const kinds = Object.entries(faults).sort(([a], [b]) => (a < b ? -1 : 1));
  const width = Math.max(0, ...kinds.map(([kind]) => kind.length));
  return [
    ...kinds.map(([kind, count]) => `    ${kind.padEnd(width)}  ${String(count)}`),
    ...summary.map((line) => `  ${line}`),
    problems.length === 0 ? `  intact: ${intact}` : '  BROKEN:',
    ...problems.map((problem) => `    ${problem}`),
  ];
}

export function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
