/*
 * The fault suite of webhook-delivery: `npm run test:delivery-integrity -- --seed 7 --minutes 5`. See README.md.
 */
import { describeResult } from '../shared/fault-run.js';
import { FlagError, runFaultSuite, type SuiteContext } from '../shared/fault-suite.js';
import { makeChangedSubscribers } from './changed-subscribers.js';
import { deliveryFaultRun, type DeliveryFaultRunResult } from './fault-run.js';
import { openDeliveryStage } from './stage.js';
import { LEAST_WITH_OUTAGE_MS, makeHeldSubscriber, type Subscriber, type SubscribersOptions } from './subscribers.js';
import { assertSenderAddresses } from './watched-instance.js';

const MOST_INSTANCES = 3;

await runFaultSuite({
  name: 'delivery-integrity',
  verdictKey: 'deliveryIntegrity',
  flags: { minutes: '5', instances: String(MOST_INSTANCES), rate: '500' },
  run,
});

async function run(suite: SuiteContext): Promise<DeliveryFaultRunResult> {
  const { seed, note } = suite;
  const durationMs = suite.number('minutes', 0.01) * 60_000;
  const deliveriesPerSecond = suite.number('rate', 1);
  const instances = suite.number('instances', 1);
  if (!Number.isInteger(instances) || instances > MOST_INSTANCES)
    throw new FlagError(`--instances must be a whole number up to ${String(MOST_INSTANCES)}.`);
  await assertSenderAddresses();
  const program = suite.program('webhook-delivery');
  const more = (of: SubscribersOptions): Subscriber[] => [
    ...makeChangedSubscribers(of),
    ...(durationMs < LEAST_WITH_OUTAGE_MS ? [] : [makeHeldSubscriber(of)]),
  ];
  return suite.inPlace('delivery', async (place) => {
    const stage = await suite.during('Starting a broker, a registry and the receiver', () =>
      openDeliveryStage(place, { instances, program, now: Date.now, more }),
    );
    try {
      const seconds = String(Math.round(durationMs / 1_000));
      note(
        `Faults on up to ${String(instances)} instances for ${seconds} s ` +
          `at ${String(deliveriesPerSecond)} deliveries/s, seed ${String(seed)}`,
      );
      const result = await deliveryFaultRun(suite, stage, { durationMs, deliveriesPerSecond, now: Date.now });
      for (const line of describeRun(result)) note(line);
      return result;
    } finally {
      await stage.stop();
    }
  });
}

function describeRun(result: DeliveryFaultRunResult): string[] {
  const { faults, injected, seed, events, expected, posts, attempts, drainedAfterMs, problems } = result;
  const { replays, replayed, repeats, inFlight, inFlightAtWorst, woken, acceptedTwice, retryLatenessMs, errors } =
    result;
  const judged = Object.entries(result.judgedStarts).map(([kind, number]) => `${kind} ${String(number)}`);
  const { count, p50, p99, most } = retryLatenessMs;
  const failed = Object.entries(errors).map(([code, number]) => `${code} ${String(number)}`);
  const finished =
    drainedAfterMs === null ? 'never finished' : `finished ${String(drainedAfterMs)} ms after the last event`;
  const summary = [
    `${String(injected)} faults, seed ${String(seed)}; ${String(events)} events, ${String(expected)} deliveries, ` +
      `${String(attempts)} attempts in the log, ${String(posts)} POSTs received; ${finished}`,
    `${String(replays)} replays of ${String(replayed)} deliveries`,
    `in flight when their process was killed or stopped: ${String(inFlight)} (${String(inFlightAtWorst)} at worst), ` +
      `written on waking: ${String(woken)}; repeats: ${String(repeats)}, ` +
      `deliveries answered 200 more than once: ${String(acceptedTwice)}`,
    `attempts without a status: ${failed.join(', ')}; lateness of ${String(count)} retries: ` +
      `p50 ${String(p50)}, p99 ${String(p99)}, at most ${String(most)} ms`,
    `starts judged by their time, while no process was disturbed: ${judged.join(', ')}`,
  ];
  const intact = 'nothing missing, no gap, nothing twice in the log, no repeat without a cause, no process stuck';
  return describeResult(faults, summary, problems, intact);
}
