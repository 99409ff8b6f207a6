import { DEFAULT_RULE_SETTINGS, type RuleSettings } from '@waypost/domain';
import { parsePositive } from '../parse-arguments.js';
import { usageError } from '../terminal/output.js';

/** One threshold of the rules that a back-test can set otherwise. */
export interface Threshold {
  /** As commander takes it. */
  readonly flag: string;
  /** As commander names it. */
  readonly name: string;
  /** What the rules have, as it would be given. */
  readonly present: string;
  readonly description: string;
  readonly parse: (text: string) => number;
  readonly apply: (settings: RuleSettings, value: number) => RuleSettings;
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `300s`, `5m`, `1h`, `500ms`. @returns milliseconds */
export function parseDuration(text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  const valueMs = Number(amount) * (UNITS_MS[unit ?? ''] ?? NaN);
  if (valueMs > 0) return valueMs;
  throw usageError(`"${text}" is not a duration: write 300s, 5m or 1h.`);
}

function ofRoutes(settings: RuleSettings, more: Partial<NonNullable<RuleSettings['routes']>>): RuleSettings {
  return { ...settings, routes: settings.routes === null ? null : { ...settings.routes, ...more } };
}

function ofGeofences(settings: RuleSettings, more: Partial<RuleSettings['geofences']>): RuleSettings {
  return { ...settings, geofences: { ...settings.geofences, ...more } };
}

function threshold(
  flag: string,
  present: string,
  description: string,
  parse: Threshold['parse'],
  apply: Threshold['apply'],
): Threshold {
  return {
    flag,
    present,
    name: flag.slice('--'.length, flag.indexOf(' ')).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    description: `${description}; now ${present}`,
    parse,
    apply,
  };
}

export const THRESHOLDS: readonly Threshold[] = [
  threshold(
    '--window <duration>',
    '180s',
    'time between two positions of a device (R-7)',
    parseDuration,
    (settings, value) => ({
      ...settings,
      positionWindowMs: value,
    }),
  ),
  threshold(
    '--moving-speed <km/h>',
    '5',
    'speed at which a vehicle counts as moving (R-9)',
    parsePositive,
    (settings, value) => ofRoutes(settings, { movingSpeedInKmh: value }),
  ),
  threshold(
    '--moving-distance <m>',
    '200',
    'distance from the stop point at which it counts as moving (R-9)',
    parsePositive,
    (settings, value) => ofRoutes(settings, { movingDistanceInMeters: value }),
  ),
  threshold(
    '--still-speed <km/h>',
    '3',
    'below this speed a vehicle stands still (R-9)',
    parsePositive,
    (settings, value) => ofRoutes(settings, { stillSpeedInKmh: value }),
  ),
  threshold(
    '--still-after <duration>',
    '300s',
    'how long it must stand still to end a route (R-9)',
    parseDuration,
    (settings, value) => ofRoutes(settings, { stillMs: value }),
  ),
  threshold(
    '--off-after <duration>',
    '30s',
    'how long the ignition must be off to end a route (R-9)',
    parseDuration,
    (settings, value) => ofRoutes(settings, { ignitionOffMs: value }),
  ),
  threshold('--gap <duration>', '1h', 'time without a fix that ends a route (R-9)', parseDuration, (settings, value) =>
    ofRoutes(settings, { gapMs: value }),
  ),
  threshold(
    '--leave-margin <m>',
    '20',
    'distance beyond the edge that counts as out, at least 10 % of the radius (R-8)',
    parsePositive,
    (settings, value) => ofGeofences(settings, { marginInMeters: value }),
  ),
  threshold(
    '--leave-fixes <n>',
    '2',
    'consecutive fixes outside before it counts as left (R-8)',
    parsePositive,
    (settings, value) => ofGeofences(settings, { leaveFixes: value }),
  ),
  threshold(
    '--leave-after <duration>',
    '30s',
    'time outside before it counts as left (R-8)',
    parseDuration,
    (settings, value) => ofGeofences(settings, { leaveMs: value }),
  ),
];

/** The defaults with what was given in their place. */
export function changedSettings(given: Readonly<Record<string, unknown>>): RuleSettings {
  return THRESHOLDS.reduce((settings, { name, apply }) => {
    const value = given[name];
    return typeof value === 'number' ? apply(settings, value) : settings;
  }, DEFAULT_RULE_SETTINGS);
}
