import { beforeAll, describe, expect, it } from '@jest/globals';
import { DEPRECATION_HEADERS } from '../http/deprecation.middleware.js';
import { createDocumentCheck, type DocumentCheck } from './document-check.js';
import { startTestApi } from './test-api.js';

let undocumentedIn: DocumentCheck;
beforeAll(async () => {
  const api = await startTestApi();
  undocumentedIn = createDocumentCheck(api.document);
  await api.close();
});

/** On every response to an API key. */
const OF_ALL = { 'x-request-id': 'r', ratelimit: '"key";r=1;t=1', 'ratelimit-policy': '"key";q=2;w=1' };

function answer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return { status, body, headers: new Headers({ ...OF_ALL, ...headers }) };
}
const ERROR = errorOf('not_found');

function errorOf(code: string) {
  return { error: { code, message: 'm', requestId: 'r' } };
}

/** Of the last page of events. */
const LAST = { nextPageState: null, completeUntil: null };

describe('the check of responses against the OpenAPI document', () => {
  it('accepts the documented forms', () => {
    expect(undocumentedIn('GET', '/public/v2/events', answer(200, { data: [], ...LAST }))).toEqual([]);
    const path = '/public/v1/webhook-subscriptions/some-id';
    expect(undocumentedIn('DELETE', path, answer(204, ''))).toEqual([]);
    expect(undocumentedIn('DELETE', path, answer(404, ERROR))).toEqual([]);
    expect(undocumentedIn('GET', '/elsewhere', answer(404, 'anything'))).toEqual([]);
    const v1 = answer(200, { events: [], next_page_state: null }, DEPRECATION_HEADERS);
    expect(undocumentedIn('GET', '/public/v1/webhook-events', v1)).toEqual([]);
  });

  it.each([
    ['an unknown field', 'GET', '/public/v2/events', answer(200, { data: [], ...LAST, more: 1 })],
    ['a missing field', 'GET', '/public/v2/events', answer(200, { data: [] })],
    ['a wrong item', 'GET', '/public/v2/events', answer(200, { data: [{}], ...LAST })],
    ['an undocumented status', 'GET', '/public/v2/events', answer(418, ERROR)],
    ['an unknown error code', 'GET', '/public/v2/events', answer(500, errorOf('oops'))],
    ['a missing header', 'GET', '/public/v2/events', answer(429, errorOf('rate_limited'))],
    [
      'a missing deprecation header',
      'GET',
      '/public/v1/webhook-events',
      answer(200, { events: [], next_page_state: null }),
    ],
    ['an undocumented method', 'PUT', '/public/v2/events', answer(200, { data: [], ...LAST })],
    ['a body where there is none', 'DELETE', '/public/v1/webhook-subscriptions/x', answer(204, { a: 1 })],
  ])('notices %s', (_, method, path, given) => expect(undocumentedIn(method, path, given)).not.toEqual([]));
});
