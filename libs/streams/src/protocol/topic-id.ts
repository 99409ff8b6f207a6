import { brokerError, ByteReader } from './bytes.js';
import { compactString, NO_TAGS, skipString, skipTags, unsignedVarint } from './tagged-fields.js';

export const METADATA_API_KEY = 3;
/** The first version with topic ids (Kafka 2.8). */
export const TOPIC_ID_METADATA_VERSION = 10;

const NO_ID = Buffer.alloc(16);
const NO_ID_TEXT = NO_ID.toString('hex');

/** Metadata v10 of one topic, for its id. */
export function topicIdRequest(topic: string) {
  return {
    apiKey: METADATA_API_KEY,
    apiVersion: TOPIC_ID_METADATA_VERSION,
    apiName: 'Metadata',
    payload: encode(topic),
    decode,
  };
}

function encode(topic: string): Buffer {
  return Buffer.concat([
    NO_TAGS,
    unsignedVarint(2), // one topic
    NO_ID,
    compactString(topic),
    NO_TAGS,
    Buffer.from([0, 0, 0]), // create nothing; no authorized operations
    NO_TAGS,
  ]);
}

/** @returns hexadecimal; null: none. Throws the error code of a broker that does not know the topic (yet). */
function decode(payload: Buffer): string | null {
  const reader = new ByteReader(payload);
  skipTags(reader);
  reader.int32(); // throttle time
  const brokers = reader.unsignedVarint() - 1;
  for (let i = 0; i < brokers; i++) skipBroker(reader);
  skipString(reader); // cluster id
  reader.int32(); // controller
  if (reader.unsignedVarint() < 2) return null;
  const errorCode = reader.int16();
  skipString(reader); // name
  const id = payload.toString('hex', reader.position, reader.position + NO_ID.length);
  if (errorCode !== 0) throw brokerError(errorCode);
  return id === NO_ID_TEXT ? null : id;
}

function skipBroker(reader: ByteReader): void {
  reader.int32(); // node id
  skipString(reader); // host
  reader.int32(); // port
  skipString(reader); // rack
  skipTags(reader);
}
