// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** One version of one subscription. A deleted one is a tombstone. */
export interface WebhookSubscription {
  readonly id: string;
  readonly fleetId: string;
  readonly eventType: string;
  readonly url: string;
  /** Its owner's words, for people. */
  readonly description: string | null;
  /** Its owner's own keys and values. */
  readonly metadata: Readonly<Record<string, string>>;
  /** active | paused | disabled */
  readonly status: string;
  readonly disabledReason: string | null;
  /** v1 | legacy-v1 */
  readonly payloadFormat: string;
  /** null: every device. */
  readonly deviceIds: readonly string[] | null;
  /** null: none. */
  readonly auth: BearerAuth | null;
  /** In the order in which they are sent. */
  readonly headers: readonly CustomHeader[];
  /** null: none. */
  readonly clientCertificate: ClientCertificate | null;
  readonly rateLimitPerSecond: number | null;
  /** fail | hold */
  readonly onOutage: string;
  readonly strictOrder: boolean;
  /** Newest first. */
  readonly secrets: readonly SealedSecret[];
  /** Counts every change of this subscription, from 1. */
  readonly version: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
}

/** OAuth2 client credentials. */
export interface BearerAuth {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly sealedClientSecret: string;
  readonly scope: string | null;
  readonly audience: string | null;
  /** client_secret_basic | client_secret_post: where the token request has its credentials. */
  readonly tokenAuthMethod: string;
}

/** A header that its owner adds to each delivery. */
export interface CustomHeader {
  /** In lower case. */
  readonly name: string;
  /** null: it is secret. */
  readonly value: string | null;
  /** A secret value under AES-256-GCM. */
  readonly sealedValue: string | null;
}

/** What a receiver is shown that asks for a certificate. */
export interface ClientCertificate {
  /** PEM, the client's own first, then its issuers. */
  readonly certificates: string;
  /** The private key in PEM, under AES-256-GCM. */
  readonly sealedKey: string;
  readonly subject: string;
  /** When the first of the certificates expires (epoch milliseconds). */
  readonly expiresAt: number;
}

/** A signing secret under AES-256-GCM. */
export interface SealedSecret {
  readonly sealed: string;
  /** null: the current one; else it signs until then (epoch milliseconds). */
  readonly expiresAt: number | null;
}
