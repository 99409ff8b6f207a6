import { describe, expect, it } from '@jest/globals';
import { StreamsError } from '@waypost/streams';
import type { KafkajsBroker } from '@waypost/streams/kafka';
import { askInTurn } from './ask-in-turn.js';

const SILENCE = new StreamsError('BROKER_UNAVAILABLE', 'No response from a broker within 15000 ms.');

/** @param fails the errors of brokers, in the order in which they are asked */
function ask(...fails: readonly Error[]): Promise<number> {
  let asked = -1;
  const brokers = { anyBroker: () => Promise.resolve({ nodeId: (asked += 1) } as unknown as KafkajsBroker) };
  return askInTurn(brokers, () => {
    const error = fails[asked];
    return error === undefined ? Promise.resolve(asked) : Promise.reject(error);
  });
}

describe('A question that any broker answers', () => {
  it('is put to another one where the first two are silent', async () => {
    expect(await ask(SILENCE, SILENCE)).toBe(2);
  });

  it('fails where three are', async () => {
    await expect(ask(SILENCE, SILENCE, SILENCE)).rejects.toBe(SILENCE);
  });

  it('is put to one only if that refuses it', async () => {
    const refusal = new StreamsError('ACCESS_DENIED', 'refused');
    await expect(ask(refusal)).rejects.toBe(refusal);
  });
});
