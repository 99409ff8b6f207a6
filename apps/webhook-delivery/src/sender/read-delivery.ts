import { topics, type AvroCodecs, type WebhookDelivery } from '@waypost/contracts';
import { StreamsError } from '@waypost/streams';

/** @throws StreamsError CORRUPT_STATE: what we wrote ourselves must be readable */
export const readDelivery = (codecs: AvroCodecs, value: Buffer | null): WebhookDelivery => {
  const decoded = value && codecs.webhookDeliveries.decode(value);
  if (decoded?.type === 'decoded') return decoded.value;
  throw new StreamsError(
    'CORRUPT_STATE',
    `A delivery in ${topics.webhookDeliveries.name} cannot be read: ${decoded?.type ?? 'no value'}.`,
  );
};
