import { DELIVERY_BUGS } from './delivery-bugs.js';
import { OUTAGE_BUGS } from './outage-bugs.js';
import type { PlantedBug } from './planted-bug.js';

const RULES = 'libs/domain/src';
const PROCESSOR_APP = 'apps/telemetry-processor/src';

const PROCESSOR: readonly Omit<PlantedBug, 'suite'>[] = [
  {
    name: 'the window of positions is a second longer',
    file: `${RULES}/rules/rule-settings.ts`,
    is: 'POSITION_WINDOW_MS = 180_000',
    becomes: 'POSITION_WINDOW_MS = 181_000',
  },
  {
    name: 'a position that the device calls invalid counts',
    file: `${RULES}/ping/valid-fix.ts`,
    is: 'if (!positionValid || latitude === null',
    becomes: 'if (latitude === null',
  },
  {
    name: 'events of a route come before those of geofences',
    file: `${RULES}/rules/decide-ping.ts`,
    is: 'events.push(eventOfRoute(change, ping));',
    becomes: 'events.unshift(eventOfRoute(change, ping));',
  },
  {
    name: 'the time of entering a geofence is lost',
    file: `${RULES}/geofence/decide-geofences.ts`,
    is: 'const enteredAt = silent ? null : fix.eventTime;',
    becomes: 'const enteredAt = null;',
  },
  {
    name: 'devices of two fleets share their state',
    file: `${PROCESSOR_APP}/pings/ping-record.ts`,
    is: 'key.append(bytes, fleetIdStart, fleetIdEnd)',
    becomes: 'key.append(bytes, fleetIdStart, fleetIdStart)',
  },
  {
    name: 'every fleet has routes',
    file: `${PROCESSOR_APP}/fleets/fleet-rules.ts`,
    is: 'fleet?.settings?.at(timestamp)?.routes === true ? DEFAULT_RULE_SETTINGS : WITHOUT_ROUTES',
    becomes: 'DEFAULT_RULE_SETTINGS',
  },
  {
    name: 'the margin around a polygon is twice as wide',
    file: `${RULES}/geofence/polygon-shape.ts`,
    is: 'latitude) > marginInMeters',
    becomes: 'latitude) > 2 * marginInMeters',
  },
  {
    name: 'a geofence is left at the first fix outside',
    file: `${RULES}/geofence/geofence-settings.ts`,
    is: 'leaveFixes: 2,',
    becomes: 'leaveFixes: 1,',
  },
  {
    name: 'an ignition change without a fix arms no position',
    file: `${RULES}/rules/evolve-device.ts`,
    is: 'armed: !sent && (decision.ignitionChanged || before.armed)',
    becomes: 'armed: false',
  },
  {
    name: 'the odometer is left out of events',
    file: `${RULES}/ping/event-of-ping.ts`,
    is: 'event.odometerInMeters = finiteOrNull(ping.odometerInMeters);',
    becomes: '',
  },
  {
    name: 'the distance of a route is 2 % too long',
    file: `${RULES}/route/event-of-route.ts`,
    is: 'Math.round(route.distanceInMeters)',
    becomes: 'Math.round(route.distanceInMeters * 1.02)',
  },
  {
    name: 'the time that a vehicle stood is not stored',
    file: `${PROCESSOR_APP}/pings/trip.layout.ts`,
    is: 'view.setFloat64(at + IDLE, leg.idleMs);',
    becomes: '',
  },
  {
    name: 'a quarantined record loses its bytes',
    file: 'libs/contracts/src/codecs/read-value.ts',
    is: 'sourceValue: isTooLarge ? null : value,',
    becomes: 'sourceValue: null,',
  },
];

const STORE = 'libs/history-store/src';

const PROJECTION: readonly Omit<PlantedBug, 'suite'>[] = [
  {
    name: 'deliveredAt is the start of the attempt',
    file: `${STORE}/deliveries/fold-attempts.ts`,
    is: 'attempt.startedAt + attempt.durationMs : null',
    becomes: 'attempt.startedAt : null',
  },
  {
    name: 'createdAt is the time of the first attempt',
    file: `${STORE}/deliveries/fold-attempts.ts`,
    is: 'createdAt: attempt.deliveryCreatedAt',
    becomes: 'createdAt: attempt.firstAttemptAt',
  },
  {
    name: 'an attempt that comes a day later is of another delivery',
    file: `${STORE}/deliveries/fold-attempts.ts`,
    is: 'firstAttemptAt: attempt.firstAttemptAt,',
    becomes: 'firstAttemptAt: Math.max(attempt.firstAttemptAt, attempt.startedAt - 86_400_000),',
  },
  {
    name: 'an attempt that is logged twice counts twice',
    file: `${STORE}/deliveries/fold-attempts.ts`,
    is: 'recordNumber(attempt) > lastRecordNumber(before)',
    becomes: 'recordNumber(attempt) >= lastRecordNumber(before)',
  },
  {
    name: 'an attempt beside one that is logged twice is lost',
    file: `${STORE}/deliveries/write-deliveries.ts`,
    is: 'others.push(...left);',
    becomes: '',
  },
  {
    name: 'a delivery that a retry delivers has no time of that',
    file: `${STORE}/deliveries/delivery-sql.ts`,
    is: 'delivered_at = b.delivered_at,',
    becomes: '',
  },
  {
    name: 'replays share the row of their original',
    file: `${STORE}/deliveries/fold-attempts.ts`,
    is: 'series: attempt.series,',
    becomes: 'series: 0,',
  },
  {
    name: 'a path takes a position that its device calls invalid',
    file: 'libs/domain/src/ping/path-of-ping.ts',
    is: 'valid: hasValidFix(ping)',
    becomes: 'valid: ping.latitude !== null',
  },
  {
    name: 'the replay of a delivery is not stored',
    file: `${STORE}/deliveries/fold-attempts.ts`,
    is: 'attempt.replayId === null ? null : storableText(attempt.replayId)',
    becomes: 'null',
  },
  {
    name: 'what expires counts as failed',
    file: `${STORE}/figures/figure-cells.ts`,
    is: "outcome === 'failed' || outcome === 'expired' ? { outcome } : null",
    becomes: "outcome === 'failed' || outcome === 'expired' ? { outcome: 'failed' } : null",
  },
  {
    name: 'the latency of the figures begins at the first attempt',
    file: `${STORE}/figures/figure-cells.ts`,
    is: 'latencyMs: deliveredAt - createdAt',
    becomes: 'latencyMs: 30',
  },
  {
    name: 'figures of a stored bucket are replaced',
    file: `${STORE}/figures/write-figures.ts`,
    is: 'minutes = f.minutes || excluded.minutes',
    becomes: 'minutes = excluded.minutes',
  },
  {
    name: 'minutes that move to their hours stay with their day too',
    file: `${STORE}/figures/write-figures.ts`,
    is: "figures: packedSumOf(day.figures + summedMinutes), minutes: ''",
    becomes: 'figures: packedSumOf(day.figures + summedMinutes), minutes: summedMinutes',
  },
  {
    name: 'hours get no figures of their minutes',
    file: `${STORE}/figures/write-figures.ts`,
    is: 'figures: packedSumOf(packed), minutes: packed',
    becomes: "figures: '', minutes: packed",
  },
  {
    name: 'a delivery that ends is shown as waiting for good',
    file: `${STORE}/deliveries/waiting-sql.ts`,
    is: "deliveryStatus(outcome) !== 'pending'",
    becomes: 'false',
  },
  {
    name: 'some deliveries without an attempt are not shown',
    file: `${STORE}/deliveries/postgres-waiting-projection.ts`,
    is: 'positions.has(index));',
    becomes: 'positions.has(index) && index % 10 !== 0);',
  },
  {
    name: 'devices of two fleets share a path',
    file: `${STORE}/paths/path-projection.ts`,
    is: '`${fleetId}\\n${deviceId}',
    becomes: '`${fleetId.slice(0, 0)}\\n${deviceId}',
  },
  {
    name: 'of a repeated ping the last one counts',
    file: `${STORE}/paths/path-projection.ts`,
    is: 'kept.has(key)',
    becomes: 'false',
  },
];

export const PLANTED_BUGS: readonly PlantedBug[] = [
  ...[...DELIVERY_BUGS, ...OUTAGE_BUGS].map((bug) => ({ ...bug, suite: 'delivery' as const })),
  ...PROJECTION.map((bug) => ({ ...bug, suite: 'projection' as const })),
  ...PROCESSOR.map((bug) => ({ ...bug, suite: 'processor' as const })),
];
