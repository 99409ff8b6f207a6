import { openAttemptsLog } from '../analysis/attempts-log.js';
import { type KillFindings, killFindings } from '../analysis/kill-findings.js';
import type { BenchContext } from '../bench-context.js';
import { HEALTHY } from '../sink/behaviors.js';
import { finishRated, singleDeliveries, startRated } from './rated-load.js';
import { pause, untilQuiet } from './window.js';

export type KillRun = KillFindings;

interface KillPlan {
  readonly perSecond: number;
  readonly seconds: number;
  readonly killsAtSeconds: readonly number[];
}

const FULL: KillPlan = { perSecond: 300, seconds: 40, killsAtSeconds: [15, 27] };
/** Not what the peers were measured with, but it finds the same mistakes. */
const QUICK: KillPlan = { perSecond: 300, seconds: 20, killsAtSeconds: [6, 13] };
const SLOW_MS = 300;
const FIRST_FAILING = 90;
/** A series of attempts that began with the last event, and the restart. */
const TAIL_SECONDS = 120;
/** Between two attempts, and something. */
const LONGEST_WAIT_SECONDS = 17;

/** kill -9 of the sender under load, restarted at once: as the peers were measured. */
export async function measureKill(context: BenchContext): Promise<KillRun> {
  const { harness, system, subscribers, stack, flags, reporter } = context;
  const plan = flags.quick ? QUICK : FULL;
  const isFailing = (endpoint: number): boolean => endpoint >= FIRST_FAILING;
  const endpoints = subscribers.single.map((_, endpoint) => endpoint);
  return reporter.during('kill -9 of the sender at 300 deliveries/s', async () => {
    await system.start();
    await harness.forget();
    await harness.behave(
      endpoints.filter((endpoint) => !isFailing(endpoint)),
      { type: 'answer', status: 200, delayMs: SLOW_MS },
    );
    await harness.behave(endpoints.filter(isFailing), { type: 'answer', status: 503, delayMs: 0 });
    const log = await openAttemptsLog(stack);
    try {
      await startRated(context, plan);
      const killedMs = await killAtTimes(context, plan);
      const sent = await finishRated(context);
      await untilQuiet(context, LONGEST_WAIT_SECONDS, TAIL_SECONDS);
      const deliveries = await singleDeliveries(context, sent);
      const run = killFindings({ deliveries, logged: await log.read(), isFailing, killedMs });
      reporter.note(`  kill -9: ${killText(run)}`);
      return run;
    } finally {
      await harness.behave(endpoints, HEALTHY);
      await log.close();
    }
  });
}

/** @returns when, epoch milliseconds */
async function killAtTimes(context: BenchContext, plan: KillPlan): Promise<number[]> {
  const { system, now } = context;
  const startedMs = now();
  const killedMs: number[] = [];
  for (const atSeconds of plan.killsAtSeconds) {
    await pause(context, (startedMs - now()) / 1_000 + atSeconds);
    killedMs.push(now());
    await system.killSender();
    await system.restartSender();
  }
  return killedMs;
}

function killText(run: KillFindings): string {
  const { failing, againAfterMs, latenessAcrossMs } = run;
  return [
    `lost ${String(run.lost)} of ${String(run.accepted)}`,
    `answered 200 twice ${run.answeredTwice.join(' + ')}`,
    `${run.inFlight.join(' + ')} in flight came again after p50 ${againAfterMs.p50.toFixed(0)}, at most ${againAfterMs.most.toFixed(0)} ms (never: ${String(run.neverAgain)})`,
    `503 without exactly 5 attempts: ${String(failing.wrongCounts)} of ${String(failing.deliveries)} (numbers with gaps: ${String(failing.wrongNumbers)})`,
    `lateness of ${String(latenessAcrossMs.count)} retries across a kill p50 ${latenessAcrossMs.p50.toFixed(0)}, at most ${latenessAcrossMs.most.toFixed(0)} ms`,
  ].join('; ');
}
