import { describe, expect, it } from '@jest/globals';
import { deliveryOfAttempt, type WebhookAttempt } from '@waypost/domain';
import { attemptOf } from '../../support/samples.js';
import { foldLog, foldWaiting, type Row } from './fold-log.js';
import { compareRows, compareWaiting } from './rows.js';

const NOW = Date.UTC(2026, 5, 20, 12);
const DAY_MS = 86_400_000;

function attempt(change: Partial<WebhookAttempt>): WebhookAttempt {
  return attemptOf({
    eventId: 'aaaaaaaa-0000-5000-8000-000000000001',
    durationMs: 7,
    firstAttemptAt: NOW - 30,
    dueAt: NOW - 31,
    startedAt: NOW - 30,
    statusCode: 503,
    outcome: 'retrying',
    decision: 'temporary_status',
    nextDueAt: NOW + 2_000,
    body: '{"a":1}',
    ...change,
  });
}
const accepted = { outcome: 'delivered', decision: 'accepted', statusCode: 204, nextDueAt: null };
const second = attempt({ attempt: 2, body: null, startedAt: NOW, dueAt: NOW, ...accepted });
function onlyRow(log: readonly WebhookAttempt[]): Row {
  const [row] = foldLog(log, NOW).values();
  if (row === undefined) throw new Error('The fold is empty.');
  return row;
}

describe('the fold of the log', () => {
  it('is a row a delivery, with the state after its last attempt', () => {
    expect(onlyRow([attempt({}), second])).toMatchObject({
      status: 'delivered',
      status_code: '204',
      last_attempt: '2',
      body: '{"a":1}',
      day: 'deliveries_20260620',
      first_attempt_at: String(NOW - 30),
      last_attempt_at: String(NOW),
      next_attempt_at: null,
      delivered_at: String(NOW + 7),
      attempts:
        `[[1,${String(NOW - 30)},${String(NOW - 31)},7,503,null,"retrying","temporary_status"],` +
        `[2,${String(NOW)},${String(NOW)},7,204,null,"delivered","accepted"]]`,
    });
  });

  it('leaves out repeated numbers, lost heads and what is older than the history', () => {
    const log = [attempt({}), attempt({ statusCode: 500 }), second, attempt({ statusCode: 500 })];
    expect(onlyRow(log)).toEqual(onlyRow([attempt({}), second]));
    expect(foldLog([second], NOW).size).toBe(0);
    expect(foldLog([attempt({ firstAttemptAt: NOW - 16 * DAY_MS })], NOW).size).toBe(0);
  });
});

describe('the comparison of the table with the fold', () => {
  const expected = foldLog([attempt({}), second], NOW);
  const [[key, row] = ['', onlyRow([attempt({})])]] = expected;

  it('finds nothing when both are equal', () => {
    expect(compareRows(expected, new Map(expected))).toEqual([]);
  });

  it.each<[string, Map<string, Row>, string]>([
    ['a row that is missing', new Map(), `${key} is missing`],
    ['a row that the log does not have', new Map([...expected, ['x/0', row]]), 'x/0 is there, but not in the log'],
    ['a space in the attempts', new Map([[key, { ...row, attempts: '[[1, 2]]' }]]), `${key}: attempts is "[[1, 2]]"`],
    ['one byte of a body', new Map([[key, { ...row, body: '{"a":2}' }]]), `${key}: body is "{\\"a\\":2}"`],
    ['a replay that is lost', new Map([[key, { ...row, replay_id: 'r' }]]), `${key}: replay_id is "r"`],
    ['another day', new Map([[key, { ...row, day: 'deliveries_20260619' }]]), `${key}: day is "deliveries_20260619"`],
  ])('finds %s', (_, found, problem) => {
    expect(compareRows(expected, found)).toEqual([expect.stringContaining(problem)]);
  });
});

describe('the judgment of what waits', () => {
  const tried = deliveryOfAttempt(attempt({}));
  if (tried === null) throw new Error('The first attempt has the body.');
  const waits = { ...tried, eventId: 'aaaaaaaa-0000-5000-8000-000000000002' };
  const waitsKey = `${waits.eventId}/0`;
  const endedKey = `${tried.eventId}/0`;
  const expected = foldWaiting([waits, tried], [attempt({}), second], NOW);
  const [row] = expected.waiting.values();
  if (row === undefined) throw new Error('Nothing waits.');

  it('finds nothing when what has no attempt is shown, and what has ended is not', () => {
    expect(compareWaiting(expected, new Map([[waitsKey, row]]))).toEqual([]);
  });

  it('leaves open whether a delivery that is being tried is shown as one that has waited', () => {
    const open = foldWaiting([tried], [attempt({})], NOW);
    for (const found of [new Map(), new Map([[endedKey, row]])]) expect(compareWaiting(open, found)).toEqual([]);
  });

  it.each([
    ['a delivery that is lost', new Map(), `${waitsKey} waits and is not shown`],
    [
      'one that has ended',
      new Map([
        [waitsKey, row],
        [endedKey, row],
      ]),
      `${endedKey} is shown as waiting`,
    ],
    ['another body', new Map([[waitsKey, { ...row, body: '?' }]]), `waiting ${waitsKey}: body is "?"`],
  ])('finds %s', (_, found, problem) => {
    expect(compareWaiting(expected, found)).toEqual([expect.stringContaining(problem)]);
  });
});
