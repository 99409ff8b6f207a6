import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type AttemptRig, rigSubscription, startAttemptRig } from '../../../../test/support/attempt-rig.js';

let rig: AttemptRig;

beforeEach(async () => {
  rig = await startAttemptRig();
});

afterEach(() => rig.close());

describe('an attempt that waits for a subscription that is not known yet', () => {
  it('is not made while the only version of it cannot be read, and goes out once one can (R-2, R-16)', async () => {
    rig.onCaughtUp(() => {
      rig.putUnreadable('sub-1');
      return Promise.resolve();
    });
    expect(await rig.run('sub-1')).toEqual({ type: 'paused' });
    rig.onCaughtUp(() => Promise.resolve());
    rig.put(rigSubscription('sub-1', { url: rig.receiver.url('/hook') }));
    expect(await rig.run('sub-1')).toMatchObject({ type: 'ended', result: { statusCode: 200 } });
  });

  it('ends without a request when the topic does not have it, and the next one does not read the topic again', async () => {
    let reads = 0;
    rig.onCaughtUp(() => {
      reads++;
      return Promise.resolve();
    });
    for (let n = 0; n < 3; n++)
      expect(await rig.run('sub-1')).toMatchObject({ type: 'ended', result: { errorCode: 'subscription_deleted' } });
    expect(reads).toBe(1);
  });
});
