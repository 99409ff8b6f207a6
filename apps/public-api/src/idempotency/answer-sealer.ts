import { Inject, Injectable } from '@nestjs/common';
import { openSecret, sealSecret } from '@waypost/domain';
import type { IdempotencyRef } from '@waypost/management-store';
import { CONFIG, RANDOM_BYTES } from '@waypost/platform';
import type { PublicApiConfig } from '../config.js';

/** A request, by its fingerprint, and the answer to it. */
export interface AnsweredRequest {
  readonly fingerprint: string;
  /** Any JSON value. */
  readonly answer: unknown;
}

const NONCE_BYTES = 12;

/**
 * Seals both together: the answer may hold a secret that is shown once, and the fingerprint of a request with a
 * guessable secret would confirm a guess. What is sealed under one key opens under no other.
 */
@Injectable()
export class AnswerSealer {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<PublicApiConfig, 'sealingKeys'>,
    @Inject(RANDOM_BYTES) private readonly randomBytes: (size: number) => Buffer,
  ) {}

  seal(ref: IdempotencyRef, answered: AnsweredRequest): string {
    const nonce = this.randomBytes(NONCE_BYTES);
    return sealSecret(JSON.stringify(answered), this.config.sealingKeys, nonce, contextOf(ref));
  }

  /** null: it was sealed under another key of the configuration, or was changed. */
  open(ref: IdempotencyRef, sealed: string): AnsweredRequest | null {
    const opened = openSecret(sealed, this.config.sealingKeys, contextOf(ref));
    return opened.type === 'opened' ? (JSON.parse(opened.plaintext.toString()) as AnsweredRequest) : null;
  }
}

function contextOf({ fleetId, route, key }: IdempotencyRef): string {
  return JSON.stringify(['idempotency', fleetId, route, key]);
}
