import { isConnectionFailure, type KafkaClient, type KafkajsBroker } from '@waypost/streams/kafka';

const TRIES = 3;

/** A broker may be frozen, which only its silence shows: then another one is asked. */
export async function askInTurn<T>(
  client: Pick<KafkaClient, 'anyBroker'>,
  ask: (broker: KafkajsBroker) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask(await client.anyBroker());
    } catch (error) {
      if (tries === TRIES || !isConnectionFailure(error)) throw error;
    }
  }
}
