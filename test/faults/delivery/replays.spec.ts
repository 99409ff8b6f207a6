import { describe, expect, it } from '@jest/globals';
import type { ReplayProgress, WebhookReplay } from '@waypost/domain';
import type { ExpectedDelivery } from './judge/observations.js';
import { expectedOfReplay, type PlacedAttempt } from './replays.js';

const replay = {
  replayId: 'r',
  subscriptionId: 's',
  fleetId: 'f',
  series: 2,
  startDate: 100,
  endDate: 200,
  createdAt: 300,
  status: null,
  statusCode: null,
  eventType: null,
  deviceId: null,
} as unknown as WebhookReplay;
const END = 1_000;

interface Said {
  readonly eventId: string;
  readonly series?: number;
  readonly firstAttemptAt?: number;
  readonly outcome?: string;
  readonly statusCode?: number | null;
  readonly offset?: number;
  readonly timestamp?: number;
  readonly deviceId?: string;
  readonly eventType?: string;
  readonly deliveryOffset?: number;
}

function attempt({ offset = 1, timestamp = 150, ...fields }: Said): PlacedAttempt {
  const value = { subscriptionId: 's', series: 0, firstAttemptAt: 150, outcome: 'delivered', ...fields };
  return { record: { offset, timestamp }, value: value as unknown as PlacedAttempt['value'] };
}

interface Given {
  readonly status?: string;
  readonly statusCode?: number;
  readonly says?: Partial<ReplayProgress>;
  readonly filter?: Partial<WebhookReplay>;
  readonly cancelledMs?: number;
}

function judged(attempts: readonly PlacedAttempt[], given: Given = {}) {
  const { status = null, statusCode = null, says = {}, filter = {}, cancelledMs = null } = given;
  const progress = { state: 'completed', attemptsEnd: END, matched: 1, sent: 1, ...says } as ReplayProgress;
  const expected = ['a', 'b'].map((eventId) => ({ eventId, subscriptionId: 's', series: 0 }) as ExpectedDelivery);
  const problems: string[] = [];
  const evidence = { expected, attempts, progress: new Map([['r', progress]]), problems };
  const asked = { replay: { ...replay, status, statusCode, ...filter }, cancelledMs };
  const ids = expectedOfReplay(asked, evidence).map(({ eventId, series }) => `${eventId} ${String(series)}`);
  return { ids, problems };
}

describe('what a replay has to send', () => {
  it('is what was first attempted in its window, start included and end not, in its series', () => {
    const attempts = [attempt({ eventId: 'a', firstAttemptAt: 100 }), attempt({ eventId: 'b', firstAttemptAt: 200 })];
    expect(judged(attempts)).toEqual({ ids: ['a/2 2'], problems: [] });
  });

  it('depends on the latest series before its end of the log when it asks for a status', () => {
    const failed = ['a', 'b'].map((eventId) => attempt({ eventId, outcome: 'failed' }));
    const again = attempt({ eventId: 'a', series: 1, firstAttemptAt: 250 });
    const later = attempt({ eventId: 'b', series: 2, firstAttemptAt: 250, offset: END, timestamp: 350 });
    expect(judged([...failed, again, later], { status: 'failed' })).toEqual({ ids: ['b/2 2'], problems: [] });
  });

  it('depends on the code of the last attempt of the latest series when it asks for one', () => {
    const answered = (eventId: string, statusCode: number | null, given: Partial<Said> = {}) =>
      attempt({ eventId, outcome: 'failed', statusCode, ...given });
    const attempts = [answered('a', 503), answered('a', 400), answered('b', 400), answered('b', null)];
    expect(judged(attempts, { statusCode: 400 })).toEqual({ ids: ['a/2 2'], problems: [] });
    const again = [answered('b', 400, { series: 1, firstAttemptAt: 250 })];
    expect(judged([...attempts, ...again], { statusCode: 400, says: { matched: 2, sent: 2 } })).toEqual({
      ids: ['a/2 2', 'b/2 2'],
      problems: [],
    });
  });

  it('leaves out what an earlier replay had sent, when that waited for its first attempt', () => {
    const failed = ['a', 'b'].map((eventId) => attempt({ eventId, outcome: 'failed' }));
    const waiting = attempt({ eventId: 'a', series: 1, firstAttemptAt: 350, offset: END, timestamp: 350 });
    expect(judged([...failed, waiting], { status: 'failed' })).toEqual({ ids: ['b/2 2'], problems: [] });
  });

  it.each<[string, Said, Partial<ReplayProgress>, string]>([
    ['counts wrongly', { eventId: 'a' }, { matched: 2 }, 'says that 2 match and 1 were sent, of 1'],
    ['sends too few', { eventId: 'a' }, { sent: 0 }, 'says that 1 match and 0 were sent, of 1'],
    ['has not ended', { eventId: 'a' }, { state: 'running' }, 'is running'],
    ['ends the log too early', { eventId: 'a', offset: END }, { matched: 0, sent: 0 }, 'leaves out 1 attempts'],
  ])('is not what a replay sends that %s', (_, said, says, problem) => {
    expect(judged([attempt(said)], { says }).problems).toEqual([expect.stringContaining(problem)]);
  });

  it('is of the device and the type that it asks for', () => {
    const attempts = [
      attempt({ eventId: 'a', deviceId: 'd1', eventType: 'position' }),
      attempt({ eventId: 'b', deviceId: 'd2', eventType: 'position' }),
    ];
    expect(judged(attempts, { filter: { deviceId: 'd2' } })).toEqual({ ids: ['b/2 2'], problems: [] });
    const none = { filter: { eventType: 'ignition_on' }, says: { matched: 0, sent: 0 } };
    expect(judged(attempts, none)).toEqual({ ids: [], problems: [] });
  });

  it('is what it has sent before its cancel, by the places of the first deliveries', () => {
    const attempts = [attempt({ eventId: 'a', deliveryOffset: 8 }), attempt({ eventId: 'b', deliveryOffset: 7 })];
    const says = { state: 'cancelled', matched: 2, sent: 1 };
    expect(judged(attempts, { says, cancelledMs: 400 })).toEqual({ ids: ['b/2 2'], problems: [] });
    expect(judged(attempts, { says }).problems).toEqual(['replay 2 of s is cancelled']);
    const notBegun = { state: 'cancelled', attemptsEnd: 0, matched: null, sent: 0 };
    expect(judged(attempts, { says: notBegun, cancelledMs: 400 })).toEqual({ ids: [], problems: [] });
  });
});
