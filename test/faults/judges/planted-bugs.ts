/** A plausible mistake, as a change of one place in the sources that reads the same in the build. */
export interface PlantedBug {
  readonly name: string;
  readonly suite: 'delivery' | 'projection' | 'processor';
  readonly file: string;
  readonly is: string;
  readonly becomes: string;
  /** It only shows in a series of five attempts. */
  readonly needsFiveAttempts?: true;
}

const SENDER = 'apps/webhook-delivery/src';
const DELIVERY_RULES = 'libs/domain/src/delivery';

const DELIVERY: readonly Omit<PlantedBug, 'suite'>[] = [
  {
    name: 'every retry starts 5 s late',
    file: `${SENDER}/sender/attempt-flow.ts`,
    is: 'this.dueTimers.at(pending.due.monotonicMs, () => {',
    becomes: 'this.dueTimers.at(pending.due.monotonicMs + 5_000, () => {',
  },
  {
    name: 'the order of the fan-out is reversed',
    file: `${SENDER}/fan-out/delivery-writer.ts`,
    is: 'this.options.writer.append(records).then(',
    becomes: 'this.options.writer.append([...records].reverse()).then(',
  },
  {
    name: '2 % of answered 200s are logged as connection_reset',
    file: `${SENDER}/attempt/attempt-runner.ts`,
    is: "return { type: 'response', statusCode, retryAfter",
    becomes:
      "if (statusCode === 200 && Math.random() < 0.02) return failure('connection_reset', ''); return { type: 'response', statusCode, retryAfter",
  },
  {
    name: '2 % of answered 200s become time-outs',
    file: `${SENDER}/attempt/attempt-runner.ts`,
    is: 'const result = await egress.post(',
    becomes:
      "const lost = { type: 'error', errorCode: 'timeout', detail: '' }; const result = Math.random() < 0.02 ? await egress.post({ ...post, signal }).then(() => new Promise((resolve) => setTimeout(resolve, 4_990, lost))) : await egress.post(",
  },
  {
    name: '5 % of the POSTs are never written',
    file: `${SENDER}/attempt/attempt-runner.ts`,
    is: 'const result = await egress.post(',
    becomes:
      "const lost = { type: 'error', errorCode: 'timeout', detail: '' }; const result = Math.random() < 0.05 ? await new Promise((resolve) => setTimeout(resolve, 4_990, lost)) : await egress.post(",
  },
  {
    name: 'the waits are too short',
    file: `${DELIVERY_RULES}/retry-delay.ts`,
    is: 'BASE_DELAYS_MS = [2_000,',
    becomes: 'BASE_DELAYS_MS = [1_000,',
  },
  {
    name: 'waits vary by 40 % instead of 20 %',
    file: `${DELIVERY_RULES}/retry-delay.ts`,
    is: '(0.8 + 0.4 * random)',
    becomes: '(0.6 + 0.8 * random)',
  },
  {
    name: 'the last wait is 12 s instead of 15',
    file: `${DELIVERY_RULES}/retry-delay.ts`,
    is: 'BASE_DELAYS_MS = [2_000, 4_000, 8_000, 15_000]',
    becomes: 'BASE_DELAYS_MS = [2_000, 4_000, 8_000, 12_000]',
    needsFiveAttempts: true,
  },
  {
    name: 'a 503 is not the temporary failure that it is',
    file: `${DELIVERY_RULES}/decide-attempt.ts`,
    is: 'case 5:',
    becomes: 'case 6:',
  },
  {
    name: 'after a kill a retry is due at once',
    file: `${DELIVERY_RULES}/delivery-fold.ts`,
    is: 'dueAt: record.nextDueAt ?? record.firstAttemptAt',
    becomes: 'dueAt: record.firstAttemptAt',
  },
  {
    name: 'after a kill what is finished is sent again',
    file: `${SENDER}/sender/sender.task.ts`,
    is: 'byDelivery.get(offset) ?? DELIVERY_UNSTARTED',
    becomes: "(byDelivery.get(offset)?.type === 'pending' ? byDelivery.get(offset) : DELIVERY_UNSTARTED)",
  },
  {
    name: 'after a kill events are fanned out again',
    file: `${SENDER}/fan-out/fan-out-progress.ts`,
    is: 'this.written?.eventIds.has(eventId) === true',
    becomes: 'false',
  },
  {
    name: 'a reported 0 is left out of the body',
    file: 'libs/domain/src/event/envelope.ts',
    is: 'if (value === null ||',
    becomes: 'if (!value ||',
  },
  {
    name: 'the odometer of legacy-v1 is not rounded',
    file: 'libs/domain/src/event/legacy-v1.ts',
    is: 'Math.round(reported / 100) / 10',
    becomes: 'reported / 1000',
  },
  {
    name: 'every POST says that it is the first attempt',
    file: `${DELIVERY_RULES}/signature.ts`,
    is: "'x-service-attempt': String(attempt)",
    becomes: "'x-service-attempt': '1'",
  },
  {
    name: 'the signature is over another time',
    file: `${DELIVERY_RULES}/signature.ts`,
    is: 'hmac(secret, `${seconds}.`, body',
    becomes: 'hmac(secret, `${seconds}`, body',
  },
  {
    name: 'every attempt is signed with the time of the delivery',
    file: `${SENDER}/attempt/attempt-runner.ts`,
    is: 'attempt, nowMs: started.epochMs',
    becomes: 'attempt, nowMs: delivery.createdAt',
  },
  {
    name: 'the subscription of a POST is its fleet',
    file: `${SENDER}/attempt/attempt-runner.ts`,
    is: "headers['x-service-subscription-id'] = subscriptionId",
    becomes: "headers['x-service-subscription-id'] = delivery.fleetId",
  },
  {
    name: 'the trace of an event ends at the fan-out',
    file: `${SENDER}/fan-out/event-deliveries.ts`,
    is: 'read.traceparent ?? traceOfPing(',
    becomes: 'traceOfPing(',
  },
  {
    name: 'all attempts of a delivery are one span',
    file: `${SENDER}/sender/attempt-trace.ts`,
    is: 'return traceOfAttempt(ofDelivery(pending), number);',
    becomes: 'return ofDelivery(pending);',
  },
  {
    name: 'a Retry-After holds nothing but its own delivery',
    file: `${SENDER}/sender/attempt-flow.ts`,
    is: 'if (retryAfterMs !== null)',
    becomes: 'if (retryAfterMs === 0)',
  },
  {
    name: 'a token that was refused is kept',
    file: `${SENDER}/attempt/bearer-tokens.ts`,
    is: 'if (entry?.issued === issued)',
    becomes: 'if (entry?.issued === null)',
  },
  {
    name: 'every POST asks for a token',
    file: `${SENDER}/attempt/bearer-tokens.ts`,
    is: 'issued !== undefined && issued.validUntilMs > monotonicMs()',
    becomes: 'issued !== undefined && issued.validUntilMs < monotonicMs()',
  },
  {
    name: 'a 410 is tried again',
    file: `${DELIVERY_RULES}/decide-attempt.ts`,
    is: 'if (statusCode === 429)',
    becomes: 'if (statusCode === 429 || statusCode === 410)',
  },
  {
    name: 'a redirect is a temporary failure',
    file: `${DELIVERY_RULES}/decide-attempt.ts`,
    is: "return { type: 'permanent', reason: 'redirect_refused' };",
    becomes: "return { type: 'temporary', reason: 'temporary_status' };",
  },
  {
    name: 'the deadline of an attempt is 8 s',
    file: `${SENDER}/attempt/attempt-runner.ts`,
    is: 'started.monotonicMs + ATTEMPT_DEADLINE_MS - ',
    becomes: 'started.monotonicMs + 8_000 - ',
  },
  {
    name: 'deviceIds are ignored',
    file: `${SENDER}/subscriptions/subscription-directory.ts`,
    is: 'if (deviceIds === null)',
    becomes: 'if (deviceIds !== undefined)',
  },
  {
    name: 'strict order is ignored',
    file: `${SENDER}/sender/attempt-flow.ts`,
    is: "return subscription ? subscription.strictOrder && subscription.status !== 'disabled' : ifUnknown;",
    becomes: 'return ifUnknown && subscriptionId === null;',
  },
  {
    name: 'first attempts start in any order',
    file: `${SENDER}/sender/subscription-lane.ts`,
    is: 'delivery?.begin(begun);',
    becomes: 'setTimeout(() => delivery?.begin(begun), Math.random() * 40);',
  },
  {
    name: 'the rate limit is ignored',
    file: `${SENDER}/sender/subscription-lane.ts`,
    is: 'this.pace.waitMs(this.settings(), ',
    becomes: 'this.pace.waitMs({ ...this.settings(), ratePerSecond: null }, ',
  },
  {
    name: 'a pause is ignored',
    file: `${SENDER}/subscriptions/subscription-directory.ts`,
    is: "status !== 'active' && status !== 'disabled'",
    becomes: 'false',
  },
  {
    name: '2 % of the POSTs are made twice',
    file: `${SENDER}/attempt/attempt-runner.ts`,
    is: 'const result = await egress.post(',
    becomes: 'if (Math.random() < 0.02) await egress.post({ ...post, signal }); const result = await egress.post(',
  },
  {
    name: 'the bearer token is not sent',
    file: `${SENDER}/attempt/attempt-runner.ts`,
    is: "headers['authorization'] = issued.authorization",
    becomes: "headers['x-authorization'] = issued.authorization",
  },
  {
    name: 'the time of the first attempt is that of the last',
    file: `${SENDER}/sender/attempt-record.ts`,
    is: 'before?.firstAttemptAt ?? startedAt',
    becomes: 'startedAt',
  },
  {
    name: 'a second replay of failures resends what the first delivered',
    file: `${SENDER}/replay/select-deliveries.ts`,
    is: 'if (this.replayed.size > 0) {',
    becomes: 'if (this.replayed.size < 0) {',
  },
  {
    name: 'a replay ignores the end of its window',
    file: 'libs/domain/src/replay/replay.ts',
    is: 'firstAttemptAt < replay.endDate &&',
    becomes: '',
  },
  {
    name: 'a replay begins again after a restart',
    file: `${SENDER}/replay/replay-job.ts`,
    is: 'nextDeliveryOffset: last.offset + 1',
    becomes: 'nextDeliveryOffset: 0',
  },
  {
    name: 'replayed deliveries have the next series',
    file: 'libs/domain/src/replay/replay.ts',
    is: 'series: replay.series,',
    becomes: 'series: replay.series + 1,',
  },
  {
    name: 'every attempt logs the body',
    file: `${SENDER}/sender/attempt-record.ts`,
    is: 'body: before === null ? delivery.body : null',
    becomes: 'body: delivery.body',
  },
  {
    name: 'durations are logged as 0',
    file: `${SENDER}/sender/attempt-record.ts`,
    is: 'durationMs: Math.round(ended.monotonicMs - started.monotonicMs)',
    becomes: 'durationMs: 0',
  },
];

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
    name: 'a geofence is left at the first fix outside',
    file: `${RULES}/geofence/decide-geofences.ts`,
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
    file: 'libs/contracts/src/read-value.ts',
    is: 'sourceValue: value,',
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
    is: 'addFigures(cell.figures, sum.take());',
    becomes: 'sum.take();',
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
  ...DELIVERY.map((bug) => ({ ...bug, suite: 'delivery' as const })),
  ...PROJECTION.map((bug) => ({ ...bug, suite: 'projection' as const })),
  ...PROCESSOR.map((bug) => ({ ...bug, suite: 'processor' as const })),
];
