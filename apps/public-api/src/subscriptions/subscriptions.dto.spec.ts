import { describe, expect, it } from '@jest/globals';
import { readBody } from '../endpoint/dto-validation.pipe.js';
import { ApiError, type ErrorDetail } from '../errors/api-error.js';
import { CreateSubscriptionsDto, UpdateSubscriptionDto } from './subscriptions.dto.js';

const URL_TEXT = 'https://receiver.example/hook';
const BEARER = { type: 'bearer', tokenUrl: 'https://id.example/token', clientId: 'c', clientSecret: 's' };

function metadataOf(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`key-${String(n)}`, 'v']));
}

function header(name: string, value: string, secret = false) {
  return { name, value, secret };
}

/** With names and values of `bytes` bytes in each. */
function headersOf(count: number, bytes: number) {
  return Array.from({ length: count }, (_, n) => header(`x${String(n).padStart(3, '0')}`, 'v'.repeat(bytes)));
}

function detailsOf(work: () => unknown): readonly ErrorDetail[] {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) {
      const { code, details = [] } = error.getResponse();
      expect([error.getStatus(), code]).toEqual([400, 'invalid_body']);
      return details;
    }
    throw error;
  }
  return [];
}
function fieldsOf(work: () => unknown) {
  return detailsOf(work).map((detail) => detail.field);
}

describe('the body that creates subscriptions', () => {
  it.each([
    [{ eventTypes: ['position', 'ignition_on'], url: URL_TEXT }],
    [{ eventType: 'position', url: URL_TEXT }],
    [{ eventType: 'position', url: URL_TEXT, deviceIds: ['a'], payloadFormat: 'legacy-v1', auth: BEARER }],
    [{ eventType: 'position', url: URL_TEXT, auth: { ...BEARER, scope: 'send' } }],
    [{ eventType: 'position', url: URL_TEXT, auth: { type: 'none' } }],
    [{ eventType: 'position', url: URL_TEXT, onOutage: 'fail', strictOrder: false, rateLimitPerSecond: null }],
    [{ eventType: 'position', url: URL_TEXT, onOutage: 'hold', strictOrder: true, rateLimitPerSecond: 1 }],
    [{ eventType: 'position', url: URL_TEXT, rateLimitPerSecond: 10_000 }],
    [{ eventType: 'position', url: URL_TEXT, description: 'é'.repeat(500), metadata: {} }],
    [{ eventType: 'position', url: URL_TEXT, description: null, metadata: metadataOf(20) }],
    [{ eventType: 'position', url: URL_TEXT, headers: [] }],
    [{ eventType: 'position', url: URL_TEXT, headers: [header('x-site', 'north'), header('x-key', 's', true)] }],
    [{ eventType: 'position', url: URL_TEXT, clientCertificate: null }],
    [{ eventType: 'position', url: URL_TEXT, clientCertificate: { certificates: 'c\n', privateKey: 'k' } }],
    [{ eventType: 'position', url: URL_TEXT, metadata: { [`A1_.-${'a'.repeat(59)}`]: 'v'.repeat(256) } }],
  ])('is taken: %j', (body) => expect(readBody(CreateSubscriptionsDto, body)).toEqual(body));

  it.each<[unknown, (string | undefined)[]]>([
    [undefined, [undefined]],
    [null, [undefined]],
    ['text', [undefined]],
    [[], [undefined]],
    [{}, ['url']],
    [{ url: URL_TEXT }, ['eventTypes']],
    [{ url: URL_TEXT, eventType: 'position', eventTypes: ['position'] }, ['eventTypes']],
    [{ url: URL_TEXT, eventTypes: [] }, ['eventTypes']],
    [{ url: URL_TEXT, eventTypes: ['position', 'position'] }, ['eventTypes']],
    [{ url: URL_TEXT, eventTypes: ['position', 'teleport'] }, ['eventTypes.1']],
    [{ url: URL_TEXT, eventTypes: 'position' }, ['eventTypes']],
    [{ url: URL_TEXT, eventType: 'Position' }, ['eventType']],
    [{ url: 5, eventType: 'position' }, ['url']],
    [{ url: '', eventType: 'position' }, ['url']],
    [{ url: `https://x/${'a'.repeat(2_048)}`, eventType: 'position' }, ['url']],
    [{ url: `https://x/${'é'.repeat(1_500)}`, eventType: 'position' }, ['url']],
    [{ url: URL_TEXT, eventType: 'position', deviceIds: [] }, ['deviceIds']],
    [{ url: URL_TEXT, eventType: 'position', deviceIds: ['a', 'a'] }, ['deviceIds']],
    [{ url: URL_TEXT, eventType: 'position', deviceIds: ['ok', 'a\u0000'] }, ['deviceIds.1']],
    [
      { url: URL_TEXT, eventType: 'position', clientCertificate: {} },
      ['clientCertificate.certificates', 'clientCertificate.privateKey'],
    ],
    [
      { url: URL_TEXT, eventType: 'position', clientCertificate: { certificates: 'é', privateKey: 'k'.repeat(8_193) } },
      ['clientCertificate.certificates', 'clientCertificate.privateKey'],
    ],
    [{ url: URL_TEXT, eventType: 'position', payloadFormat: 'xml' }, ['payloadFormat']],
    [{ url: URL_TEXT, eventType: 'position', auth: { type: 'basic' } }, ['auth.type']],
    [{ url: URL_TEXT, eventType: 'position', auth: { ...BEARER, clientSecret: undefined } }, ['auth.clientSecret']],
    [{ url: URL_TEXT, eventType: 'position', auth: { type: 'none', clientId: 'c' } }, ['auth.clientId']],
    [{ url: URL_TEXT, eventType: 'position', color: 'red', status: 'paused' }, ['color', 'status']],
    [{ url: URL_TEXT, eventType: 'test' }, ['eventType']],
    [{ url: URL_TEXT, eventType: 'position', rateLimitPerSecond: 0 }, ['rateLimitPerSecond']],
    [{ url: URL_TEXT, eventType: 'position', rateLimitPerSecond: -1 }, ['rateLimitPerSecond']],
    [{ url: URL_TEXT, eventType: 'position', rateLimitPerSecond: 0.5 }, ['rateLimitPerSecond']],
    [{ url: URL_TEXT, eventType: 'position', rateLimitPerSecond: 10_001 }, ['rateLimitPerSecond']],
    [{ url: URL_TEXT, eventType: 'position', rateLimitPerSecond: '5' }, ['rateLimitPerSecond']],
    [{ url: URL_TEXT, eventType: 'position', onOutage: 'drop' }, ['onOutage']],
    [{ url: URL_TEXT, eventType: 'position', onOutage: null }, ['onOutage']],
    [{ url: URL_TEXT, eventType: 'position', strictOrder: 'true' }, ['strictOrder']],
    [{ url: URL_TEXT, eventType: 'position', headers: [header('x-a', '1'), header('X-A', '2')] }, ['headers']],
    [{ url: URL_TEXT, eventType: 'position', headers: [header('Content-Type', 'text/plain')] }, ['headers.0.name']],
    [{ url: URL_TEXT, eventType: 'position', headers: [header('authorization', 'Basic eA==')] }, ['headers.0.name']],
    [{ url: URL_TEXT, eventType: 'position', headers: [header('webhook-id', 'mine')] }, ['headers.0.name']],
    [{ url: URL_TEXT, eventType: 'position', headers: [header('x'.repeat(65), 'v')] }, ['headers.0.name']],
    [{ url: URL_TEXT, eventType: 'position', headers: [header('x y', 'v')] }, ['headers.0.name']],
    [{ url: URL_TEXT, eventType: 'position', headers: [header('x', 'v\r\nx-other: w')] }, ['headers.0.value']],
    [{ url: URL_TEXT, eventType: 'position', headers: [header('x', '')] }, ['headers.0.value']],
    [{ url: URL_TEXT, eventType: 'position', headers: [{ name: 'x' }] }, ['headers.0.value']],
    [
      { url: URL_TEXT, eventType: 'position', headers: [{ name: 'x', value: 'v', secret: 'yes' }] },
      ['headers.0.secret'],
    ],
    [{ url: URL_TEXT, eventType: 'position', headers: { 'x-site': 'north' } }, ['headers']],
    [{ url: URL_TEXT, eventType: 'position', description: '' }, ['description']],
    [{ url: URL_TEXT, eventType: 'position', description: 'a'.repeat(501) }, ['description']],
    [{ url: URL_TEXT, eventType: 'position', description: 'two\nlines' }, ['description']],
    [{ url: URL_TEXT, eventType: 'position', description: 'half \ud800' }, ['description']],
    [{ url: URL_TEXT, eventType: 'position', metadata: null }, ['metadata']],
    [{ url: URL_TEXT, eventType: 'position', metadata: metadataOf(21) }, ['metadata']],
    [{ url: URL_TEXT, eventType: 'position', metadata: { '': 'v' } }, ['metadata.']],
    [{ url: URL_TEXT, eventType: 'position', metadata: { 'a b': 'v' } }, ['metadata.a b']],
    [{ url: URL_TEXT, eventType: 'position', metadata: { ['a'.repeat(65)]: 'v' } }, [`metadata.${'a'.repeat(65)}`]],
    [{ url: URL_TEXT, eventType: 'position', metadata: { a: 'v'.repeat(257) } }, ['metadata.a']],
    [{ url: URL_TEXT, eventType: 'position', metadata: { a: 1, b: null } }, ['metadata.a', 'metadata.b']],
    [{ url: URL_TEXT, eventType: 'position', metadata: { a: 'half \udc00' } }, ['metadata.a']],
  ])('is refused with its fields named: %j', (body, fields) => {
    expect(fieldsOf(() => readBody(CreateSubscriptionsDto, body))).toEqual(fields);
  });

  it('may have 20 headers of 4,096 bytes of names and values together, and no more (R-19)', () => {
    const fieldsWith = (headers: object[]) =>
      fieldsOf(() => readBody(CreateSubscriptionsDto, { url: URL_TEXT, eventType: 'position', headers }));
    expect(fieldsWith(headersOf(20, 200))).toEqual([]);
    expect(fieldsWith(headersOf(21, 1))).toEqual(['headers']);
    expect(fieldsWith([header('x'.repeat(64), 'v'.repeat(4_032))])).toEqual([]);
    expect(fieldsWith([header('x'.repeat(64), 'v'.repeat(4_033))])).toEqual(['headers']);
    expect(fieldsWith(headersOf(4, 1_020))).toEqual([]);
    expect(fieldsWith(headersOf(4, 1_021))).toEqual(['headers']);
  });

  it('reads the names of headers in lower case, and a header is not secret unless it says so (R-16)', () => {
    const body = { url: URL_TEXT, eventType: 'position', headers: [{ name: 'X-Site', value: 'North' }] };
    expect(readBody(CreateSubscriptionsDto, body).headers).toEqual([header('x-site', 'North')]);
  });

  it('says the bounds of a rate limit once', () => {
    const wrong = { url: URL_TEXT, eventType: 'position', rateLimitPerSecond: 0.5 };
    expect(detailsOf(() => readBody(CreateSubscriptionsDto, wrong))).toEqual([
      { field: 'rateLimitPerSecond', message: 'must be a whole number from 1 to 10000, or null for no limit' },
    ]);
  });
});

describe('the body that changes a subscription', () => {
  it.each([
    [{ status: 'paused' }],
    [{ deviceIds: null }],
    [{ deviceIds: ['a'] }],
    [{ auth: { type: 'none' } }],
    [{ url: URL_TEXT }],
    [{ rateLimitPerSecond: 25, onOutage: 'hold', strictOrder: true }],
    [{ rateLimitPerSecond: null }],
    [{ description: null }],
    [{ status: 'disabled' }],
    [{ metadata: {} }],
    [{ headers: [] }],
    [{ clientCertificate: null }],
  ])('is taken: %j', (body) => expect(readBody(UpdateSubscriptionDto, body)).toEqual(body));

  it.each<[unknown, (string | undefined)[]]>([
    [{}, [undefined]],
    [{ status: 'deleted' }, ['status']],
    [{ eventType: 'position' }, ['eventType']],
    [{ auth: { type: 'bearer', clientId: 'c' } }, ['auth.tokenUrl', 'auth.clientSecret']],
    [{ onOutage: 'never', rateLimitPerSecond: 0 }, ['rateLimitPerSecond', 'onOutage']],
  ])('is refused with its fields named: %j', (body, fields) => {
    expect(fieldsOf(() => readBody(UpdateSubscriptionDto, body))).toEqual(fields);
  });
});
