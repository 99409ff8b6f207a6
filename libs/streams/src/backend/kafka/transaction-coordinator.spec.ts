import { describe, expect, it } from '@jest/globals';
import type { KafkaClient } from './kafka-client.js';
import type { KafkajsBroker } from './kafkajs/kafkajs-patches.js';
import { producerError, TransactionCoordinator } from './transaction-coordinator.js';

const UNKNOWN_TOPIC_OR_PARTITION = 3;

describe('a transaction with a topic that was deleted', () => {
  const missing = { code: UNKNOWN_TOPIC_OR_PARTITION };
  const partitionErrors = [{ partition: 0, errorCode: missing.code }];

  function coordinator(onAsked: () => void): TransactionCoordinator {
    const asked = <T>(answer: T): T => {
      onAsked();
      return answer;
    };
    const client = {
      atCoordinator: (_type: string, _key: string, ask: (broker: KafkajsBroker) => Promise<unknown>) =>
        ask({} as KafkajsBroker),
      ask: () => Promise.resolve(asked({ errors: [{ topic: 'moves', partitionErrors }] })),
      call: () => Promise.reject(asked(Object.assign(new Error('No such topic.'), missing))),
    };
    let nowMs = 0;
    const monotonicNow = (): number => (nowMs += 4_000);
    return new TransactionCoordinator({
      transactionalId: 'app.0',
      client: client as unknown as KafkaClient,
      monotonicNow,
    });
  }

  it.each([
    [
      'Adding moves-0 to a transaction was refused',
      (one: TransactionCoordinator) =>
        one.addPartitions({ producerId: 1, producerEpoch: 0 }, [{ topic: 'moves', partition: 0 }]),
    ],
    ['TxnOffsetCommit of group was refused', (one: TransactionCoordinator) => one.call('TxnOffsetCommit', {}, 'group')],
  ])('is asked again for a while, and then says what to do: %s', async (what, ask) => {
    let asked = 0;
    const error: unknown = await ask(coordinator(() => asked++)).catch((reason: unknown) => reason);
    expect(producerError('app.0', error)).toMatchObject({
      code: 'TOPIC_MISSING',
      message: `${what} with UNKNOWN_TOPIC_OR_PARTITION (3). It is gone: create the topic again.`,
    });
    expect(asked).toBeGreaterThan(2);
  });
});
