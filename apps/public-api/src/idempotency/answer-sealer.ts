import { openSecret, sealSecret } from '@waypost/domain';
import type { IdempotencyRef } from '@waypost/management-store';

/** What a request was, and what it was answered. */
export interface AnsweredRequest {
  readonly fingerprint: string;
  /** Anything that JSON can hold. */
  readonly answer: unknown;
}

/**
 * Seals both together: the answer may hold a secret that is shown once, and the fingerprint of a request with a
 * guessable secret would confirm a guess. What is sealed under one key opens under no other.
 */
export interface AnswerSealer {
  seal(ref: IdempotencyRef, answered: AnsweredRequest): string;
  /** null: it was sealed under another key of the configuration, or is not what was stored. */
  open(ref: IdempotencyRef, sealed: string): AnsweredRequest | null;
}

export interface AnswerSealerDeps {
  /** 32 bytes. */
  readonly sealingKey: Buffer;
  readonly randomBytes: (size: number) => Buffer;
}

const NONCE_BYTES = 12;

export function createAnswerSealer({ sealingKey, randomBytes }: AnswerSealerDeps): AnswerSealer {
  return {
    seal: (ref, answered) => sealSecret(JSON.stringify(answered), sealingKey, randomBytes(NONCE_BYTES), contextOf(ref)),
    open(ref, sealed) {
      const opened = openSecret(sealed, sealingKey, contextOf(ref));
      return opened.type === 'opened' ? (JSON.parse(opened.plaintext.toString()) as AnsweredRequest) : null;
    },
  };
}

function contextOf({ fleetId, route, key }: IdempotencyRef): string {
  return JSON.stringify(['idempotency', fleetId, route, key]);
}
