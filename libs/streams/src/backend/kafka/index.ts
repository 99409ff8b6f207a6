/** Single requests to brokers, for the checks of this repository. No entry of the published package. */
export { describeConfigs, type ConfigResource } from './describe-configs.js';
export { KafkaClient } from './kafka-client.js';
export { isConnectionFailure, isDenial } from './kafka-errors.js';
export { type KafkajsBroker, type MetadataResponse, SPEAKS_TLS, withoutErrors } from './kafkajs/kafkajs-patches.js';
export { fetchRequest } from '../../protocol/fetch.js';
export { produceRequest } from '../../protocol/produce.js';
