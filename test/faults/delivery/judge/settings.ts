import { groupBy } from '../../../support/group-by.js';
import { endOf, type Interruption, type Pause, type Settings, type SettingsVersion } from './observations.js';

/** From the record of a version: the second of R-16, and half of that for a busy machine. */
export const SETTLES_MS = 1_500;
/** Times are whole milliseconds of one machine's clock. */
const CLOCK_MS = 2;

export interface KnownSettings {
  has(subscriptionId: string): boolean;
  /** What a process may have gone by at some moment of a time; `by` says from when on it cannot go by the version before. */
  during(subscriptionId: string, fromMs: number, toMs: number, by?: 'knownMs' | 'settledMs'): readonly Settings[];
  /** The times of each version that every process has gone by. */
  settled(): Iterable<SettledTime>;
}

export interface SettledTime {
  readonly subscriptionId: string;
  readonly settings: Settings;
  /** null: of the first version. */
  readonly before: Settings | null;
  /** Of its record. */
  readonly knownMs: number;
  readonly fromMs: number;
  /** Just before the record of the next version; Infinity: there was none. */
  readonly untilMs: number;
}

/** Versions of each subscription that was changed, in their order. */
export function knownSettings(versions: readonly SettingsVersion[]): KnownSettings {
  const bySubscription = groupBy(versions, ({ subscriptionId }) => subscriptionId);
  return {
    has: (id) => bySubscription.has(id),
    during(id, fromMs, toMs, by = 'settledMs') {
      const own = bySubscription.get(id) ?? [];
      const possible = own.filter((version, index) => {
        const endMs = own[index + 1]?.[by] ?? Infinity;
        return version.fromMs <= toMs + CLOCK_MS && endMs >= fromMs - CLOCK_MS;
      });
      return possible.map(({ settings }) => settings);
    },
    *settled() {
      for (const [subscriptionId, own] of bySubscription) {
        for (const [index, { settings, knownMs, settledMs }] of own.entries()) {
          const before = own[index - 1]?.settings ?? null;
          const untilMs = own[index + 1]?.fromMs ?? Infinity;
          if (settledMs < untilMs) yield { subscriptionId, settings, before, knownMs, fromMs: settledMs, untilMs };
        }
      }
    },
  };
}

/** When a subscription was paused: from when on that was known until it was active again. */
export function pausesOf(versions: readonly SettingsVersion[]): Pause[] {
  return [...groupBy(versions, ({ subscriptionId }) => subscriptionId).values()].flatMap((own) =>
    own.flatMap(({ subscriptionId, settings, knownMs }, index) => {
      const next = own[index + 1];
      if (settings.status !== 'paused' || next === undefined) return [];
      return [{ subscriptionId, fromMs: knownMs, untilMs: next.fromMs }];
    }),
  );
}

/** A process that was stopped, or cut off from its broker, may go by an earlier version for some time. */
export function wasDisturbed(interruptions: readonly Interruption[], atMs: number): boolean {
  return interruptions.some((one) => one.atMs <= atMs && endOf(one) + SETTLES_MS >= atMs);
}
