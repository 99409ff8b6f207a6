/*
 * All applications under load and faults for a long time: `npm run soak -- --minutes 30 --seed 7`. See README.md.
 */
import { projectFile } from '../../../tools/dev-stack/project-root.js';
import { LEAST_WITH_OUTAGE_MS } from '../delivery/subscribers.js';
import { assertSenderAddresses } from '../delivery/watched-instance.js';
import { describeResult } from '../shared/fault-run.js';
import { runFaultSuite, type SuiteContext } from '../shared/fault-suite.js';
import { soakInjector, soakSchedule, upgradeInjector, upgradeSchedule } from './plans.js';
import { buildOf, setUpOf } from './previous-build.js';
import { writeReport } from './report.js';
import { type SoakResult, soakRun } from './soak-run.js';
import { openSoakStage, type SoakApp, type SoakStage } from './stage.js';

await runFaultSuite({
  name: 'soak',
  verdictKey: 'soak',
  flags: { minutes: '30', pings: '150', events: '150', 'upgrade-from': '', report: projectFile('.waypost/soak') },
  run,
});

async function run(suite: SuiteContext): Promise<Omit<SoakResult, 'samples'>> {
  const { note } = suite;
  const from = suite.text('upgrade-from');
  await assertSenderAddresses();
  const previous = from === '' ? null : await suite.during(`Building ${from}`, () => buildOf(from));
  const upgraded = new Set<number>();
  const programOf = (app: SoakApp, instance: number): string =>
    previous === null || upgraded.has(instance) ? suite.program(app) : `${previous}/apps/${app}/src/main.js`;
  return suite.inPlace('soak', async (place) => {
    const stage = await suite.during('Starting three brokers, a registry, a database and the receiver', () =>
      openSoakStage(place, programOf, {
        earlierSetUp: previous === null ? undefined : setUpOf(previous),
        withOutage: loadOf(suite).durationMs >= LEAST_WITH_OUTAGE_MS,
      }),
    );
    try {
      const result = await (previous === null
        ? faultySoak(suite, stage)
        : upgrade(suite, stage, (instance) => upgraded.add(instance)));
      await writeReport(suite.text('report'), result);
      const { samples, ...verdict } = result;
      for (const line of describeRun(verdict)) note(line);
      note(`${String(samples.length)} samples: ${suite.text('report')}`);
      return verdict;
    } finally {
      await stage.stop();
    }
  });
}

function loadOf(suite: SuiteContext) {
  return {
    durationMs: suite.number('minutes', 0.1) * 60_000,
    pingsPerSecond: suite.number('pings', 1),
    eventsPerSecond: suite.number('events', 1),
  };
}

function faultySoak(suite: SuiteContext, stage: SoakStage): Promise<SoakResult> {
  const load = loadOf(suite);
  suite.note(`Faults for ${String(load.durationMs / 60_000)} minutes, seed ${String(suite.seed)}`);
  return soakRun(suite, stage, {
    ...load,
    schedule: soakSchedule(suite.seed, load.durationMs),
    injector: (hold) => soakInjector(stage, hold),
  });
}

function upgrade(suite: SuiteContext, stage: SoakStage, switchBuild: (instance: number) => void): Promise<SoakResult> {
  const load = loadOf(suite);
  suite.note(`An upgrade from ${suite.text('upgrade-from')}, one instance after the other`);
  return soakRun(suite, stage, {
    ...load,
    schedule: upgradeSchedule(stage, load.durationMs),
    injector: () => upgradeInjector(stage, switchBuild),
  });
}

function describeRun(result: Omit<SoakResult, 'samples'>): string[] {
  const { faults, pings, events, expected, attempts, posts, replayed, repeats, inFlight, historyRows, drifts } = result;
  const { retryLatenessMs: retries, firstAttemptMs: first, drainedAfterMs, problems } = result;
  const summary = [
    `${String(pings)} pings, ${String(events)} events, ${String(expected)} deliveries of which ${String(replayed)} are replayed, ` +
      `${String(attempts)} attempts, ${String(posts)} POSTs received, ${String(historyRows)} rows of history`,
    `repeats: ${String(repeats)}, in flight at a kill or a stop: ${String(inFlight)}; ` +
      (drainedAfterMs === null ? 'never finished' : `finished ${String(drainedAfterMs)} ms after the last event`),
    `first attempts after their record: p50 ${String(first.p50)}, p99 ${String(first.p99)} ms; ` +
      `retries late: p50 ${String(retries.p50)}, p99 ${String(retries.p99)} ms`,
    ...drifts.map(({ figure, early, late }) => `${figure}: ${String(early)}, at the end ${String(late)}`),
  ];
  return describeResult(faults, summary, problems, 'nothing missing, nothing twice without a cause, nothing grows');
}
