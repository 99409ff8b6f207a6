import { join } from 'node:path';
import { makeChangedSubscribers } from '../delivery/changed-subscribers.js';
import { deliveryFaultRun } from '../delivery/fault-run.js';
import { openDeliveryStage } from '../delivery/stage.js';
import { makeHeldSubscriber } from '../delivery/subscribers.js';
import { faultRun as processorFaultRun } from '../processor/fault-run.js';
import { openStage as openProcessorStage } from '../processor/stage.js';
import { faultRun as projectionFaultRun } from '../projection/fault-run.js';
import { openProjectionStage } from '../projection/stage.js';
import type { Place, SuiteContext } from '../shared/fault-suite.js';
import type { PlantedBug } from './planted-bug.js';
import { BRIEF_OUTAGE } from './planted-build.js';

export interface Build {
  readonly dist: string;
  readonly needsFiveAttempts: boolean;
}

/** A short run with one kill, and with everything that traffic and subscriptions have, judged in full. */
export const SUITES: Record<
  PlantedBug['suite'],
  (suite: SuiteContext, place: Place, build: Build) => Promise<readonly string[]>
> = {
  async delivery(suite, place, { dist, needsFiveAttempts }) {
    const program = join(dist, 'apps/webhook-delivery/src/main.js');
    const stage = await openDeliveryStage(place, {
      ...{ instances: 1, program, now: Date.now, brief: !needsFiveAttempts },
      more: (of) => [...makeChangedSubscribers(of), makeHeldSubscriber(of)],
    });
    try {
      const { problems } = await deliveryFaultRun({ ...suite, note: () => undefined }, stage, {
        durationMs: 9_000,
        deliveriesPerSecond: 150,
        now: Date.now,
        secondReader: false,
        schedule: [{ atMs: 6_500, fault: { kind: 'processor-kill', instance: 0, downMs: 0 } }],
        drainWithinMs: needsFiveAttempts ? 45_000 : 15_000,
        outageTimes: BRIEF_OUTAGE,
      });
      return problems;
    } finally {
      await stage.stop();
    }
  },
  async projection(suite, place, { dist }) {
    const stage = await openProjectionStage(place, join(dist, 'apps/history-projector/src/main.js'));
    try {
      const { problems } = await projectionFaultRun({ ...suite, note: () => undefined }, stage, {
        // A delivery that waits is shown after some seconds, and its attempts come only then.
        durationMs: 8_000,
        attemptsPerSecond: 700,
        waypost: null,
        now: Date.now,
        secondReader: false,
        schedule: [
          { atMs: 1_500, fault: { kind: 'projector-kill', projector: 0, downMs: 0 } },
          { atMs: 3_000, fault: { kind: 'batch-end' } },
        ],
      });
      return problems;
    } finally {
      await stage.stop();
    }
  },
  async processor(suite, place, { dist }) {
    const program = join(dist, 'apps/telemetry-processor/src/main.js');
    const stage = await openProcessorStage(place, { brokers: 1, program });
    try {
      const { problems } = await processorFaultRun({ ...suite, note: () => undefined }, stage, {
        durationMs: 8_000,
        startedInstances: [0],
        pingsPerSecond: 1_500,
        secondReader: false,
        schedule: [{ atMs: 4_000, fault: { kind: 'processor-kill', instance: 0, downMs: 0 } }],
      });
      return problems;
    } finally {
      await stage.stop();
    }
  },
};
