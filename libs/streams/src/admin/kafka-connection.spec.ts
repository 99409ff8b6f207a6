import { describe, expect, it } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import { connectAdmin } from './kafka-connection.js';

/** Nothing listens there. */
const brokers = ['127.0.0.1:1', '127.0.0.1:2'];

describe('opening an admin', () => {
  it('fails with BROKER_UNAVAILABLE where no broker responds, and names the brokers', async () => {
    const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING, retry: { retries: 0 } });
    await expect(connectAdmin(kafka.admin(), brokers)).rejects.toMatchObject({
      name: 'StreamsError',
      code: 'BROKER_UNAVAILABLE',
      message: expect.stringMatching(
        /^Connecting to 127\.0\.0\.1:1, 127\.0\.0\.1:2: no broker responds \(.*ECONNREFUSED.*Look after the brokers/,
      ),
      cause: expect.objectContaining({ name: expect.stringContaining('KafkaJS') }),
    });
  });

  it('fails with ACCESS_DENIED where the brokers refuse the login', async () => {
    const refusal = Object.assign(new Error('Wrong password'), { name: 'KafkaJSSASLAuthenticationError' });
    const connect = () => Promise.reject(refusal);
    await expect(connectAdmin({ connect }, brokers)).rejects.toMatchObject({
      code: 'ACCESS_DENIED',
      message: expect.stringContaining('The login was refused: Wrong password.'),
    });
  });
});
