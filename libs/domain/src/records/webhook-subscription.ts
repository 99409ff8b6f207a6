// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** One version of one subscription. A tombstone deletes it. */
export interface WebhookSubscription {
  readonly id: string;
  readonly fleetId: string;
  readonly eventType: string;
  readonly url: string;
  /** For people, by its owner. */
  readonly description: string | null;
  /** Keys and values of its owner. */
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
  /** What happens to deliveries while the endpoint is down: fail | hold */
  readonly onOutage: string;
  /** Whether a delivery waits for those of the same device before it. */
  readonly strictOrder: boolean;
  /** Newest first. */
  readonly secrets: readonly SealedSecret[];
  /** Starts at 1 and grows with every change of the subscription. */
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
  /** How the token request carries the credentials: client_secret_basic | client_secret_post */
  readonly tokenAuthMethod: string;
}

/** A header that the owner adds to each delivery. */
export interface CustomHeader {
  /** In lower case. */
  readonly name: string;
  /** null: the value is secret. */
  readonly value: string | null;
  /** The secret value, encrypted with AES-256-GCM. */
  readonly sealedValue: string | null;
}

/** What is presented to a receiver that asks for a certificate. */
export interface ClientCertificate {
  /** PEM: the client's own certificate, then its issuers. */
  readonly certificates: string;
  /** The private key in PEM, encrypted with AES-256-GCM. */
  readonly sealedKey: string;
  /** The subject of the client's own certificate. */
  readonly subject: string;
  /** When the first of the certificates expires (epoch milliseconds). */
  readonly expiresAt: number;
}

/** A signing secret, encrypted with AES-256-GCM. */
export interface SealedSecret {
  readonly sealed: string;
  /** null: the current secret; otherwise it also signs until then (epoch milliseconds). */
  readonly expiresAt: number | null;
}
