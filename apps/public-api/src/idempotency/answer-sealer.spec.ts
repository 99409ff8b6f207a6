import { describe, expect, it } from '@jest/globals';
import { AnswerSealer } from './answer-sealer.js';

const REF = { fleetId: 'acme', route: 'POST /public/v1/geofences', key: 'k' };
const ANSWERED = { fingerprint: 'f', answer: { id: 'g', secret: 'shown once' } };

function build(...keys: readonly number[]): AnswerSealer {
  const sealingKeys = keys.map((fill) => Buffer.alloc(32, fill));
  return new AnswerSealer({ sealingKeys }, (size) => Buffer.alloc(size, 9));
}

describe('a kept answer (R-17)', () => {
  it('opens for its request, also under a key that is no longer the newest', () => {
    const sealed = build(1).seal(REF, ANSWERED);
    expect(build(2, 1).open(REF, sealed)).toEqual(ANSWERED);
    expect(sealed).not.toContain('shown once');
  });

  it.each([
    ['fleet', { fleetId: 'other' }],
    ['route', { route: 'POST /public/v1/api-keys' }],
    ['idempotency key', { key: 'k2' }],
  ])('does not open for another %s, wherever its row is copied to', (_, other) => {
    const sealer = build(1);
    expect(sealer.open({ ...REF, ...other }, sealer.seal(REF, ANSWERED))).toBeNull();
  });

  it('does not open without the key that sealed it', () => {
    expect(build(2).open(REF, build(1).seal(REF, ANSWERED))).toBeNull();
  });
});
