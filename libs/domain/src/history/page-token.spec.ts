import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NOON } from '../../../../test/support/samples.js';
import { keyIdOf } from '../secret/sealed-secret.js';
import { deliveryPageTokens, listPageTokens, pathPageTokens } from './page-token.js';

const { seal: sealPageToken, open: openPageToken } = deliveryPageTokens;
const KEY = Buffer.alloc(32, 5);
const KEYS = [KEY];
const position = { firstAttemptAt: NOON, eventId: 'd08a18f2-8c03-52b8-8f97-c1d25f86d0d6', series: 2 };
const content = { position, fleetId: 'fleet-1', queryFingerprint: 'query-1', issuedAt: NOON };
const expected = { fleetId: 'fleet-1', queryFingerprint: 'query-1', nowMs: NOON };
/** A token of the first release, without a key id. */
const EARLIER =
  'AYLN6VtsBn_LtRKrL41vtypTPtCoDq2h3SarrRrsVkQ3WyJmbGVldC0xIiwicXVlcnktMSIsMTcxNDU2NDgwMDAwMCwxNzE0NTY0ODAwMDAwLCJkMDhhMThmMi04YzAzLTUyYjgtOGY5Ny1jMWQyNWY4NmQwZDYiLDJd';
const token = sealPageToken(content, KEYS);

function refused(reason: string) {
  return { type: 'refused', reason };
}

describe('a page token (R-34)', () => {
  it('leads back to its position', () => {
    expect(openPageToken(token, expected, KEYS)).toEqual({ type: 'opened', position });
  });

  it('leads back to a position among the deliveries that wait, which is no other', () => {
    const waiting = { ...position, isWaiting: true as const };
    const sealed = sealPageToken({ ...content, position: waiting }, KEYS);
    expect(openPageToken(sealed, expected, KEYS)).toEqual({ type: 'opened', position: waiting });
  });

  it.each([[7], ['fleet-1'], [{ createdAt: NOON, id: 'a' }]])('of a list leads back to the position %j', (of) => {
    const sealed = listPageTokens.seal({ ...content, position: of }, KEYS);
    expect(listPageTokens.open(sealed, expected, KEYS)).toEqual({ type: 'opened', position: of });
  });

  it('keeps the start of its walk, and how complete its first page was', () => {
    for (const more of [{}, { isWaiting: true as const }, { completeUntil: NOON - 2 }, { completeUntil: null }]) {
      const started = { ...position, ...more, startAt: NOON - 1 };
      const sealed = sealPageToken({ ...content, position: started }, KEYS);
      expect(openPageToken(sealed, expected, KEYS)).toEqual({ type: 'opened', position: started });
    }
  });

  it('is authenticated as a whole, its version and key id included', () => {
    const bytes = Buffer.from(token, 'base64url');
    const [head, mac, payload] = [bytes.subarray(0, 5), bytes.subarray(5, 37), bytes.subarray(37)];

    expect(head.toString('hex')).toBe(`02${keyIdOf(KEY)}`);
    expect(mac).toEqual(
      createHmac('sha256', KEY)
        .update(Buffer.concat([head, payload]))
        .digest(),
    );
  });

  it('is made with the newest key and opened by any of them, also when it names no key', () => {
    const newer = Buffer.alloc(32, 6);
    const renewed = sealPageToken(content, [newer, KEY]);

    for (const text of [token, EARLIER, renewed]) {
      expect(openPageToken(text, expected, [newer, KEY])).toEqual({ type: 'opened', position });
    }
    expect(openPageToken(renewed, expected, [newer]).type).toBe('opened');
    expect(openPageToken(renewed, expected, KEYS)).toEqual(refused('forged'));
    expect(openPageToken(EARLIER, expected, [newer])).toEqual(refused('forged'));
  });

  it('is plain in a URL', () => expect(token).toMatch(/^[A-Za-z0-9_-]+$/));

  it('does so for any fleet, query and position', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 64 });
    const positions = fc.record({ firstAttemptAt: fc.nat(), eventId: text, series: fc.nat() });
    fc.assert(
      fc.property(positions, text, text, (at, fleetId, queryFingerprint) => {
        const sealed = sealPageToken({ position: at, fleetId, queryFingerprint, issuedAt: NOON }, KEYS);
        expect(openPageToken(sealed, { fleetId, queryFingerprint, nowMs: NOON }, KEYS)).toEqual({
          type: 'opened',
          position: at,
        });
      }),
    );
  });

  it('opens for 24 h', () => {
    const after = (ms: number) => openPageToken(token, { ...expected, nowMs: NOON + ms }, KEYS);

    expect(after(23 * 3_600_000).type).toBe('opened');
    expect(after(86_399_999).type).toBe('opened');
    expect(after(86_400_000)).toEqual(refused('expired'));
  });

  it('opens although the clock that issued it runs a little ahead', () => {
    expect(openPageToken(token, { ...expected, nowMs: NOON - 1_000 }, KEYS).type).toBe('opened');
  });

  it('is bound to its fleet and to its query', () => {
    expect(openPageToken(token, { ...expected, fleetId: 'fleet-2' }, KEYS)).toEqual(refused('other_fleet'));
    expect(openPageToken(token, { ...expected, queryFingerprint: 'query-2' }, KEYS)).toEqual(refused('other_query'));
  });

  it('cannot be made with another key', () => {
    expect(openPageToken(sealPageToken(content, [Buffer.alloc(32, 6)]), expected, KEYS)).toEqual(refused('forged'));
  });

  it('is refused when any one byte of it is changed', () => {
    const bytes = Buffer.from(token, 'base64url');
    for (let index = 0; index < bytes.length; index++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(bytes.readUInt8(index) ^ 1, index);
      const opened = openPageToken(changed.toString('base64url'), expected, KEYS);
      expect(opened).toEqual(refused(index === 0 ? 'other_version' : 'forged'));
    }
  });

  it.each([
    ['nothing', '', 'malformed'],
    ['text that is not base64url', 'a b', 'malformed'],
    ['padding', `${token}=`, 'malformed'],
    ['too few bytes', token.slice(0, 45), 'malformed'],
    ['a token without content', token.slice(0, 50), 'malformed'],
    ['a cut-off token', Buffer.from(token, 'base64url').subarray(0, -3).toString('base64url'), 'forged'],
    ['a huge token', 'A'.repeat(1_000_000), 'malformed'],
    ['the token of a later version', 'Aw', 'other_version'],
  ])('is not made of %s', (_, text, reason) => expect(openPageToken(text, expected, KEYS)).toEqual(refused(reason)));

  it('needs a key of 32 bytes', () => {
    expect(() => sealPageToken(content, [Buffer.alloc(16)])).toThrow(expect.objectContaining({ code: 'bad_key' }));
  });

  it('written by an earlier release opens', () => {
    expect(openPageToken(EARLIER, expected, KEYS)).toEqual({ type: 'opened', position });
  });

  it('of a walk over paths leads back to its device, time and start', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 256 });
    fc.assert(
      fc.property(fc.nat(), text, fc.nat(), (startAt, deviceId, eventTime) => {
        const at = { startAt, deviceId, eventTime };
        const sealed = pathPageTokens.seal({ ...content, position: at }, KEYS);
        expect(pathPageTokens.open(sealed, expected, KEYS)).toEqual({ type: 'opened', position: at });
      }),
    );
  });
});
