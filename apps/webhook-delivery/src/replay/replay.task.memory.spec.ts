import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import { type HeldSelection, SelectionMemory } from './selection-memory.js';
import { openReplayHarness, range, type ReplayHarness } from './testing/replay-harness.js';

const LIMIT_BYTES = 6_144;
const FIRST_BYTES = 2_048;

/** Knows the most that was ever held. */
class WatchedMemory extends SelectionMemory {
  mostBytes = 0;

  override hold(fleetId: string): HeldSelection {
    const held = super.hold(fleetId);
    const grewTo = (bytes: number): void => {
      held.grewTo(bytes);
      this.mostBytes = Math.max(this.mostBytes, this.heldBytes);
    };
    return { ...held, grewTo };
  }
}

let stage: ReplayHarness;
let selections: WatchedMemory;

beforeEach(async () => {
  stage = await openReplayHarness();
  selections = stage.selections = new WatchedMemory(LIMIT_BYTES, FIRST_BYTES);
});
afterEach(async () => {
  await stage.close();
  expect(stage.fatal).toEqual([]);
  expect(selections.heldBytes).toBe(0);
});

/** Each with three deliveries, at a rate that makes it wait. */
function ask(fleetId: string, ids: readonly string[], ratePerSecond: number): void {
  for (const [n, id] of ids.entries()) {
    stage.subscriptions.set(id, 'active');
    for (const delivery of range(0, 3)) stage.sent(3 * n + delivery, {}, { subscriptionId: id, fleetId });
    stage.ask({ replayId: `replay of ${id}`, subscriptionId: id, fleetId, ratePerSecond });
  }
}

const idsOf = (fleetId: string, count: number) => range(0, count).map((n) => `${fleetId} ${String(n)}`);

describe('the selections of the replays of a process', () => {
  it('take no more memory than they may, however many slow replays there are, and all of these end (R-26)', async () => {
    const fleets = ['a', 'b', 'c'];
    for (const fleetId of fleets) ask(fleetId, idsOf(fleetId, 16), 20);
    await stage.startReplayer();
    await stage.allDone();
    expect(await stage.replayed()).toHaveLength(fleets.length * 16 * 3);
    expect(selections.mostBytes).toBeGreaterThanOrEqual(FIRST_BYTES);
    expect(selections.mostBytes).toBeLessThanOrEqual(LIMIT_BYTES);
  });

  it('leave room for another fleet, though one has more replays for a paused subscription each than fit (R-26)', async () => {
    const paused = idsOf('a', 12);
    ask('a', paused, 20);
    for (const id of paused) stage.subscriptions.set(id, 'paused');
    await stage.startReplayer();
    await until(async () => (await stage.progressOf('replay of a 0'))?.matched === 3);
    ask('b', ['b 0'], 20);
    await stage.ended('completed', 'replay of b 0');
    const whole = await Promise.all(paused.map((id) => stage.progressOf(`replay of ${id}`)));
    expect(whole.filter((progress) => progress?.matched === 3).length).toBeLessThan(paused.length);
    for (const id of paused) stage.subscriptions.set(id, 'active');
    await stage.allDone();
  });
});
