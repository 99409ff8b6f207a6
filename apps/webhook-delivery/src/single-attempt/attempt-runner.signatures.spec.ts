import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { formatSigningSecret, sealSigningSecret } from '@waypost/domain';
import {
  type AttemptRig,
  deliveryOf,
  rigAuth,
  rigSubscription,
  startAttemptRig,
} from '../../../../test/support/attempt-rig.js';
import type { ReceivedCall } from '../../../../test/support/receiver.js';
import { signatureProblem } from '../../../../test/support/signature-problem.js';

const NEW = Buffer.alloc(32, 1);
const OLD = Buffer.alloc(32, 2);
const HOUR_MS = 3_600_000;

let rig: AttemptRig;

beforeEach(async () => {
  rig = await startAttemptRig();
});

afterEach(() => rig.close());

/** Rotated: the old secret signs until a day after the rotation. */
function rotated(expiresAt: number) {
  return rigSubscription(
    'sub-1',
    { url: rig.hook() },
    {
      secrets: [
        { bytes: NEW, expiresAt: null },
        { bytes: OLD, expiresAt },
      ],
    },
  );
}

/** By the public library, which also checks the time. */
function acceptedUnder(secret: Buffer, { body, headers }: ReceivedCall): boolean {
  try {
    new Webhook(formatSigningSecret(secret)).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

function countOf(call: ReceivedCall, header: string, part: RegExp): number {
  return String(call.headers[header]).match(part)?.length ?? 0;
}

describe('the signatures of an attempt (R-17, R-19)', () => {
  it('are accepted by the public library and our own check, with either secret for 24 h after a rotation', async () => {
    rig.put(rotated(rig.nowMs() + 24 * HOUR_MS));
    await rig.run('sub-1');
    for (const secret of [NEW, OLD]) {
      expect(acceptedUnder(secret, rig.onlyCall())).toBe(true);
      expect(signatureProblem(rig.onlyCall(), formatSigningSecret(secret))).toBeNull();
    }
    expect(countOf(rig.onlyCall(), 'x-service-signature', /,v1=/g)).toBe(2);
    expect(countOf(rig.onlyCall(), 'webhook-signature', /v1,/g)).toBe(2);
  });

  it('use the old secret until its 24 h end and not afterwards, without a new version', async () => {
    const end = Date.now() + 60_000;
    rig.put(rotated(end));
    rig.advance(end - 1_000 - rig.nowMs());
    await rig.run('sub-1');
    rig.advance(end - rig.nowMs());
    await rig.run('sub-1');
    const [before, after] = rig.receiver.callsTo('/hook');
    if (before === undefined || after === undefined) throw new Error('two calls expected');
    expect([acceptedUnder(NEW, before), acceptedUnder(OLD, before)]).toEqual([true, true]);
    expect([acceptedUnder(NEW, after), acceptedUnder(OLD, after)]).toEqual([true, false]);
    expect(countOf(after, 'x-service-signature', /,v1=/g)).toBe(1);
    expect(countOf(after, 'webhook-signature', /v1,/g)).toBe(1);
  });

  it('use the new secret from the first attempt after a rotation', async () => {
    rig.put(rigSubscription('sub-1', { url: rig.hook() }, { secrets: [{ bytes: OLD, expiresAt: null }] }));
    await rig.run('sub-1');
    rig.put({ ...rotated(rig.nowMs() + HOUR_MS), version: 2 });
    await rig.run('sub-1');
    const [before, after] = rig.receiver.callsTo('/hook');
    if (before === undefined || after === undefined) throw new Error('two calls expected');
    expect([acceptedUnder(NEW, before), acceptedUnder(OLD, before)]).toEqual([false, true]);
    expect([acceptedUnder(NEW, after), acceptedUnder(OLD, after)]).toEqual([true, true]);
  });

  it('are valid for any text on the wire, as its UTF-8 bytes', async () => {
    rig.put(rigSubscription('sub-1', { url: rig.hook() }));
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.string({ unit: 'grapheme', minLength: 500 }));
    await fc.assert(
      fc.asyncProperty(texts, fc.uuid(), async (text, eventId) => {
        const body = JSON.stringify({ eventId, text });
        await rig.run('sub-1', { delivery: deliveryOf('sub-1', { eventId, body }) });
        const call = rig.receiver.callsTo('/hook').at(-1);
        expect(call?.body.equals(Buffer.from(body))).toBe(true);
        expect(call && acceptedUnder(NEW, call)).toBe(true);
        expect(call && signatureProblem(call, formatSigningSecret(NEW))).toBeNull();
      }),
      { numRuns: 100 },
    );
  });

  it('skip a secret that cannot be opened while another one can', async () => {
    const { secrets, ...rest } = rotated(rig.nowMs() + HOUR_MS);
    const sealed = sealSigningSecret(NEW, [Buffer.alloc(32, 9)], Buffer.alloc(12), 'sub-1');
    rig.put({ ...rest, secrets: [{ sealed, expiresAt: null }, ...secrets.slice(1)] });
    await rig.run('sub-1');
    expect([acceptedUnder(NEW, rig.onlyCall()), acceptedUnder(OLD, rig.onlyCall())]).toEqual([false, true]);
  });

  it('are required: without an openable secret nothing is sent and no token requested', async () => {
    const sealed = sealSigningSecret(NEW, [Buffer.alloc(32, 9)], Buffer.alloc(12), 'sub-1');
    const secrets = [{ sealed, expiresAt: null }];
    for (const auth of [null, rigAuth('sub-1', rig.receiver.url('/token'))]) {
      rig.put({ ...rigSubscription('sub-1', { url: rig.hook(), auth }), secrets });
      expect(await rig.run('sub-1')).toMatchObject({ result: { type: 'error', errorCode: 'secret_unreadable' } });
    }
    expect(rig.receiver.calls).toEqual([]);
  });
});
