import type { ConnectionOptions } from 'node:tls';

export interface KafkaSettings {
  /** `host:port` of the brokers to ask first. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly ssl?: ConnectionOptions | boolean | undefined;
  readonly sasl?: SaslSettings | undefined;
}

export type SaslSettings =
  | {
      readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
      readonly username: string;
      readonly password: string;
    }
  | {
      readonly mechanism: 'oauthbearer';
      /**
       * Returns a currently valid token. It is called for each connection, and again before a broker ends its session.
       * An error with the code `TOKEN_REFUSED` means that waiting does not help.
       */
      readonly oauthBearerProvider: () => Promise<{ readonly value: string }>;
    };
