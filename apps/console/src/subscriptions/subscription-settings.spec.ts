import { describe, expect, it } from '@jest/globals';
import type { Subscription } from '@waypost/client';
import { changeOf, changesOf, creationOf, NEW_SETTINGS, settingsOf } from './subscription-settings.js';

const BEARER = {
  type: 'bearer',
  tokenUrl: 'https://id.example/token',
  clientId: 'waypost',
  audience: 'https://hooks.example',
  tokenAuthMethod: 'client_secret_post',
} as const;
const PLAIN = {
  payloadFormat: 'v1',
  onOutage: 'fail',
  strictOrder: false,
  metadata: {},
  auth: { type: 'none' },
  headers: [],
} as unknown as Subscription;

describe('the fields of a subscription', () => {
  it('change nothing when they are saved as they were', () => {
    const full = {
      ...PLAIN,
      payloadFormat: 'legacy-v1',
      deviceIds: ['van 1', 'a,b'],
      rateLimitPerSecond: 5,
      onOutage: 'hold',
      description: 'Of the ERP',
      metadata: { team: 'x=y', empty: '' },
      auth: BEARER,
      clientCertificate: { subject: 'CN=waypost', expiresAt: '2027-01-01T00:00:00.000Z' },
      headers: [{ name: 'x-api-key', secret: true }],
    } as Subscription;
    expect(changeOf(settingsOf(full))).toEqual({
      payloadFormat: 'legacy-v1',
      deviceIds: ['van 1', 'a,b'],
      rateLimitPerSecond: 5,
      onOutage: 'hold',
      strictOrder: false,
      // Without `auth`, `headers` and `clientCertificate`: what is secret of them is not known here, so they stay what they are.
      description: 'Of the ERP',
      metadata: { team: 'x=y', empty: '' },
    });
  });

  it('give others at the same URL nothing of what they may differ in, only what was changed (R-16)', () => {
    const one = { ...PLAIN, description: 'Of the ERP', deviceIds: ['van-1'], metadata: { team: 'x' } } as Subscription;
    expect(changesOf(one, settingsOf(one))).toEqual({});
    expect(changesOf(one, { ...settingsOf(one), rateLimitPerSecond: '7', deviceIds: '' })).toEqual({
      rateLimitPerSecond: 7,
      deviceIds: null,
    });
  });

  it('say every device and no limit where they are empty', () => {
    const change = changeOf({ ...settingsOf(PLAIN), deviceIds: ' \n', rateLimitPerSecond: '' });
    expect(change).toMatchObject({ deviceIds: null, rateLimitPerSecond: null });
  });

  it('leave the format of a new one to the fleet, and its devices out', () => {
    expect(creationOf(NEW_SETTINGS)).toEqual({
      rateLimitPerSecond: null,
      onOutage: 'fail',
      strictOrder: false,
      description: null,
      metadata: {},
      auth: { type: 'none' },
      clientCertificate: null,
    });
    expect(creationOf({ ...NEW_SETTINGS, deviceIds: 'van-1\n van-2 ' })).toMatchObject({
      deviceIds: ['van-1', 'van-2'],
    });
  });

  it('take another token source only whole, and can take it away', () => {
    const kept = settingsOf({ ...PLAIN, auth: BEARER });
    const bearer = { ...kept.auth, type: 'bearer', clientSecret: 's', scope: ' a b ' } as const;
    expect(changeOf({ ...kept, auth: bearer }).auth).toEqual({ ...BEARER, clientSecret: 's', scope: 'a b' });
    expect(changeOf({ ...kept, auth: { ...kept.auth, type: 'none' } }).auth).toEqual({ type: 'none' });
  });

  it('replace a client certificate only with its key, and can take it away (R-19)', () => {
    const kept = settingsOf({ ...PLAIN, clientCertificate: { subject: 'CN=waypost', expiresAt: '' } });
    const made = { certificates: '-----BEGIN CERTIFICATE-----', privateKey: '-----BEGIN PRIVATE KEY-----' };
    expect(changeOf({ ...kept, certificate: { ...made, type: 'new' } }).clientCertificate).toEqual(made);
    expect(changeOf({ ...kept, certificate: { ...made, type: 'none' } }).clientCertificate).toBeNull();
    expect(creationOf({ ...NEW_SETTINGS, certificate: { ...made, type: 'new' } }).clientCertificate).toEqual(made);
  });

  it('replace the headers of its own as a whole, once one of them is changed (R-19)', () => {
    const stored = [
      { name: 'x-tenant', value: 'acme', secret: false },
      { name: 'x-api-key', secret: true },
    ];
    const kept = settingsOf({ ...PLAIN, headers: stored });
    expect(kept.headers.list).toEqual([stored[0], { ...stored[1], value: '' }]);
    expect(changeOf(kept)).not.toHaveProperty('headers');
    const list = [{ name: 'x-api-key', value: 's', secret: true }];
    expect(changeOf({ ...kept, headers: { ...kept.headers, list } }).headers).toEqual(list);
    expect(changeOf({ ...kept, headers: { ...kept.headers, list: [] } }).headers).toEqual([]);
    // A row that was added is gone again.
    expect(changeOf({ ...kept, headers: { ...kept.headers, list: [...kept.headers.list] } })).not.toHaveProperty(
      'headers',
    );
    expect(creationOf({ ...NEW_SETTINGS, headers: { list, kept: [] } }).headers).toEqual(list);
  });
});
