import type { ConnectionOptions } from 'node:tls';

/** How to reach a Kafka cluster. */
export interface KafkaSettings {
  /** `host:port` of the brokers to ask first. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly ssl?: ConnectionOptions | boolean | undefined;
  readonly sasl?:
    | {
        readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
        readonly username: string;
        readonly password: string;
      }
    | undefined;
}
