import { describe, expect, it } from '@jest/globals';
import type { FleetSettings } from '../records/fleet-settings.js';
import { createFleetSettingsHistory } from './fleet-settings-history.js';

const DAY_MS = 86_400_000;

function settingsOf(version: number, routes: boolean): FleetSettings {
  return {
    fleetId: 'acme',
    name: null,
    payloadFormat: 'v1',
    routes,
    version,
    createdAt: 0,
    updatedAt: 0,
  };
}

/** Versions 1, 2, ... with these times and values. */
function historyOf(...versions: readonly (readonly [number, boolean | null])[]) {
  const history = createFleetSettingsHistory();
  versions.forEach(([appendedAt, routes], index) => {
    history.record('acme', routes === null ? null : settingsOf(index + 1, routes), appendedAt);
  });
  return { history, at: (appendedAt: number) => history.fleet('acme')?.at(appendedAt)?.routes };
}

describe('The settings that a ping sees', () => {
  it('are the newest that were appended at or before it', () => {
    const { at } = historyOf([100, false], [200, true], [300, false]);
    expect([99, 100, 199, 200, 299, 300, 10_000].map(at)).toEqual([
      ...[undefined, false, false],
      ...[true, true, false, false],
    ]);
  });

  it('are those of its fleet', () => {
    const { history } = historyOf([100, true]);
    expect(history.fleet('other')).toBeUndefined();
    expect(history.fleetCount).toBe(1);
  });

  it('count from the first time that a version was published', () => {
    const { history, at } = historyOf([100, false], [200, true]);
    history.record('acme', settingsOf(2, true), 250);
    history.record('acme', settingsOf(1, false), 260);
    expect([199, 200, 260].map(at)).toEqual([false, true, true]);
  });

  it('are those of the fleet that was created again, although its versions restart at 1', () => {
    const { history, at } = historyOf([100, false], [200, false]);
    history.record('acme', { ...settingsOf(1, true), createdAt: 300 }, 300);
    expect([299, 300].map(at)).toEqual([false, true]);
  });

  it('are none once the fleet is deleted', () => {
    const { at } = historyOf([100, true], [200, null]);
    expect([199, 200].map(at)).toEqual([true, undefined]);
  });

  it('are the newest of the log where the clock of the broker was set back in between', () => {
    const { at } = historyOf([200, false], [150, true]);
    expect([149, 150, 200].map(at)).toEqual([undefined, true, true]);
  });

  it('are kept as long as pings can be read, and a day more', () => {
    const { history, at } = historyOf([0, false], [DAY_MS, true], [2 * DAY_MS, false], [19 * DAY_MS, true]);
    expect(history.fleet('acme')?.versionCount).toBe(3);
    expect([DAY_MS, 2 * DAY_MS, 19 * DAY_MS].map(at)).toEqual([true, false, true]);
    history.record('acme', settingsOf(5, false), 40 * DAY_MS);
    expect(history.fleet('acme')?.versionCount).toBe(2);
    expect([24 * DAY_MS, 40 * DAY_MS].map(at)).toEqual([true, false]);
  });
});
