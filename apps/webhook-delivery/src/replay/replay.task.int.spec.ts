import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ReplayProgress, WebhookDelivery } from '@waypost/domain';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { until } from '../../../../test/support/until.js';
import { type KafkaReplayLog, openKafkaReplayLog } from './testing/kafka-replay-log.js';
import { deliveryOf, replayOf, START } from './testing/replay-harness.js';

const brokers = requireTestStack().brokers.join(',');
const { registryUrl } = requireTestStack();
const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** The times of the kills follow from it. */
const REPLAYED = process.env['WAYPOST_LONG_TESTS'] === undefined ? 30_000 : 100_000;
const WINDOW_MS = 60_000;

let stage: KafkaReplayLog;
const processes: ChildProcess[] = [];

beforeAll(async () => {
  stage = await openKafkaReplayLog(brokers, registryUrl);
});
afterAll(async () => {
  for (const child of processes) child.kill('SIGKILL');
  await stage.close();
});

function startReplayer(): ChildProcess {
  const program = 'apps/webhook-delivery/src/replay/testing/replayer-process.ts';
  const args = ['--import', './test/support/typescript-loader.mjs', program, brokers, registryUrl];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['pipe', 'ignore', 'inherit'] });
  processes.push(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function lastProgress(replayId: string): Promise<ReplayProgress | undefined> {
  return (await stage.readProgress(replayId)).at(-1);
}

function untilProgress(replayId: string, condition: (progress: ReplayProgress) => boolean): Promise<ReplayProgress> {
  return until(
    async () => {
      const progress = await lastProgress(replayId);
      return progress !== undefined && condition(progress) && progress;
    },
    { timeoutMs: 60_000 },
  );
}

/** One of eleven is before the window, and some in between belong to another subscription. */
async function fill(subscriptionId: string): Promise<WebhookDelivery[]> {
  const other = stage.newSubscriptionId();
  const sent: { delivery: WebhookDelivery; firstAttemptAt: number }[] = [];
  const selected: WebhookDelivery[] = [];
  for (let n = 0; selected.length < REPLAYED; n++) {
    const delivery = deliveryOf(n, { subscriptionId, eventId: randomUUID() });
    const isBefore = n % 11 === 0;
    if (!isBefore) selected.push(delivery);
    sent.push({ delivery, firstAttemptAt: isBefore ? START - 1 : START + (n % WINDOW_MS) });
    if (n % 50 === 0) sent.push({ delivery: deliveryOf(n, { subscriptionId: other }), firstAttemptAt: START });
  }
  await stage.writeSent(sent);
  return selected;
}

describe(`a replay of ${String(REPLAYED)} deliveries`, () => {
  it('completes across SIGKILL and SIGSTOP, each delivery once, in order, with the same bytes', async () => {
    const subscriptionId = stage.newSubscriptionId();
    const replayId = randomUUID();
    const selected = await fill(subscriptionId);
    await stage.ask(replayOf({ replayId, subscriptionId, series: 7 }));

    let replayer = startReplayer();
    // The first one dies while it selects, the others while they write.
    await untilProgress(replayId, () => true);
    for (const sent of [1, 0.3 * REPLAYED, 0.7 * REPLAYED]) {
      await kill(replayer);
      replayer = startReplayer();
      await untilProgress(replayId, (progress) => progress.sent >= sent);
    }
    // A paused one is replaced, and wakes up while its successor is at work.
    const paused = replayer;
    paused.kill('SIGSTOP');
    const before = (await lastProgress(replayId))?.sent ?? 0;
    startReplayer();
    await untilProgress(replayId, (progress) => progress.sent > before);
    paused.kill('SIGCONT');
    const end = await untilProgress(replayId, ({ state }) => state === 'completed');
    expect(before).toBeLessThan(REPLAYED);
    expect(end).toMatchObject({ matched: REPLAYED, sent: REPLAYED });

    const replayed = await stage.readReplayed(replayId);
    expect(replayed).toHaveLength(REPLAYED);
    const wrong = replayed.filter((delivery, index) => {
      const first = selected[index];
      const same = { ...first, series: 7, replayId, createdAt: delivery.createdAt };
      return first === undefined || JSON.stringify(delivery) !== JSON.stringify(same);
    });
    expect(wrong.slice(0, 3)).toEqual([]);

    // Its reported progress only grows, over all processes.
    const reported = (await stage.readProgress(replayId)).map(({ sent }) => sent);
    expect(reported).toEqual([...reported].sort((a, b) => a - b));
  }, 150_000);
});
