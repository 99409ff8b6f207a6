import { DEFAULT_RULE_SETTINGS, type FleetGeofences, type RuleSettings, type TelemetryPing } from '@waypost/domain';
import type { StreamRecord } from '@waypost/streams';
import type { KnownFleets } from './fleets/fleet-directory.js';
import { FleetFinder } from './fleets/fleet-finder.js';
import type { RuleSet } from './rule-set.js';

/** What of the rules counts for one ping. */
export interface AppliedRules {
  readonly settings: RuleSettings;
  /** The geofences that it sees; null: none are looked at. */
  readonly view: { readonly fleet: FleetGeofences | undefined; readonly at: number } | null;
}

export interface RulesOfPings {
  /** Before the pings of a batch: what became known of their fleets since the last one. */
  refresh(): void;
  /** The answer is written over by the next call. */
  of(record: StreamRecord, ping: TelemetryPing): AppliedRules;
}

const WITHOUT_ROUTES: RuleSettings = Object.freeze({ ...DEFAULT_RULE_SETTINGS, routes: null });
const POSITIONS: AppliedRules = Object.freeze({ settings: WITHOUT_ROUTES, view: null });

/**
 * The geofences and settings of its fleet that a ping sees are those of its time (decisions 0028 and 0030). Routes and stops
 * are for fleets that want them.
 */
export const createRulesOfPings = (fleets: KnownFleets, rules: RuleSet): RulesOfPings => {
  if (rules === 'positions') return { refresh: () => undefined, of: () => POSITIONS };
  const finder = new FleetFinder(fleets);
  const view: { fleet: FleetGeofences | undefined; at: number } = { fleet: undefined, at: 0 };
  const applied: { settings: RuleSettings; readonly view: typeof view } = { settings: WITHOUT_ROUTES, view };
  return {
    refresh: () => {
      finder.refresh();
    },
    of: ({ timestamp }, ping) => {
      const fleet = finder.find(ping);
      view.fleet = fleet?.geofences;
      view.at = timestamp;
      applied.settings = fleet?.settings?.at(timestamp)?.routes === true ? DEFAULT_RULE_SETTINGS : WITHOUT_ROUTES;
      return applied;
    },
  };
};
