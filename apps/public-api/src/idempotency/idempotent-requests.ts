import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ChangeStores, type IdempotencyRef, IdempotencyStore, type KeptAnswer } from '@waypost/management-store';
import { CLOCK } from '@waypost/platform';
import type { Caller } from '../auth/caller.js';
import type { QueryText } from '../endpoint/query-text.js';
import { invalidHeader } from '../errors/api-error.js';
import { PublishedChanges } from '../outbox/published-changes.js';
import { AnswerSealer } from './answer-sealer.js';
import { answerLost, inProgress, keyReused } from './idempotency.errors.js';

/** Whose idempotency keys these are. */
type KeyOwner = Pick<Caller, 'type' | 'keyId' | 'fleetId'>;

/** The response to a change, and the outbox rows that the response waits for. */
interface Change<T> {
  readonly answer: T;
  readonly outboxIds: readonly string[];
}

/**
 * Makes a change and waits until it is published. `make` runs inside one SQL transaction when the request has a key: it
 * uses the stores that it is given, and waits for nothing else.
 */
export type MakeChange<T> = (make: (stores: ChangeStores) => Promise<Change<T>>) => Promise<T>;

/** On a response that repeats an earlier one. */
const REPLAYED_HEADER = 'idempotent-replayed';

/** Carries out requests that create something, and those with an `Idempotency-Key` once, however often they are sent. */
@Injectable()
export class IdempotentRequests {
  constructor(
    private readonly stores: ChangeStores,
    private readonly answers: IdempotencyStore,
    private readonly published: PublishedChanges,
    private readonly sealer: AnswerSealer,
    @Inject(CLOCK) private readonly nowMs: () => number,
  ) {}

  /**
   * @param work checks the request, and calls `change` once with what to do
   * @throws ApiError 422 when the key was used for another request, 409 while that request is in progress
   */
  async answer<T>(request: Request, caller: KeyOwner, work: (change: MakeChange<T>) => Promise<T>): Promise<T> {
    const key = idempotencyKey(request);
    if (key === null) return work(async (make) => this.whenPublished(await make(this.stores)));
    return this.once(request, { fleetId: caller.fleetId, route: routeOf(request), key: ownKey(caller, key) }, work);
  }

  /** Only success is kept: a refusal changed nothing, and may be different the next time. */
  private async once<T>(request: Request, ref: IdempotencyRef, work: (change: MakeChange<T>) => Promise<T>) {
    const query = request.query as unknown as QueryText;
    const fingerprint = requestFingerprint({ path: request.path, body: request.body as unknown, query });
    const again = async ({ sealed, outboxIds }: KeptAnswer): Promise<T> => {
      const answered = this.sealer.open(ref, sealed);
      if (answered === null) throw answerLost();
      if (answered.fingerprint !== fingerprint) throw keyReused();
      request.res?.set(REPLAYED_HEADER, 'true');
      return this.whenPublished({ answer: answered.answer as T, outboxIds });
    };
    const kept = await this.answers.find(ref, this.nowMs());
    if (kept !== null) return again(kept);
    return work(async (make) => {
      const result = await this.answers.once(ref, this.nowMs(), async (stores) => {
        const made = await make(stores);
        const sealed = this.sealer.seal(ref, { fingerprint, answer: made.answer });
        return { made, answer: { sealed, outboxIds: made.outboxIds } };
      });
      if (result.type === 'in_progress') throw inProgress();
      return result.type === 'kept' ? again(result.answer) : this.whenPublished(result.made);
    });
  }

  private async whenPublished<T>({ answer, outboxIds }: Change<T>): Promise<T> {
    if (outboxIds.length > 0) await this.published.wait(outboxIds);
    return answer;
  }
}

/** A portal session shares no keys with others of its fleet: an earlier answer may tell of what it must not see. */
function ownKey({ type, keyId }: KeyOwner, key: string): string {
  // No key has a line break in it.
  return type === 'portal_session' ? `${keyId}\n${key}` : key;
}

/** Method and path template: a key has one meaning per route. */
function routeOf(request: Request): string {
  const { path } = request.route as { readonly path: string };
  return `${request.method} ${path}`;
}

interface AskedRequest {
  readonly path: string;
  readonly body: unknown;
  readonly query: QueryText;
}

/** Equal for equal requests: the order of fields in the body and of query parameters does not matter. */
export function requestFingerprint({ path, body, query }: AskedRequest): string {
  const parameters = [...query]
    .map(([name, given]) => [name, given.map(({ text, written }) => text ?? written)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  // Without a query as it was before queries counted: the keys of then stay good.
  const asked = [path.toLowerCase(), canonical(body), ...(parameters.length === 0 ? [] : [parameters])];
  return createHash('sha256').update(JSON.stringify(asked)).digest('base64url');
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  // Pairs, not an object: a field may be called __proto__.
  return { fields: fields.map(([name, inner]) => [name, canonical(inner)]) };
}

export const MAX_KEY_LENGTH = 255;
/** Printable ASCII, so that it is the same text everywhere; also the `pattern` of the OpenAPI document. */
export const KEY_PATTERN = '^[!-~]([ -~]*[!-~])?$';
const KEY_FORM = new RegExp(KEY_PATTERN);

/** The `Idempotency-Key` of the request, or null. @throws ApiError 400 for an unusable one */
export function idempotencyKey(request: Pick<Request, 'headers'>): string | null {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return null;
  const key = String(header);
  if (key.length <= MAX_KEY_LENGTH && KEY_FORM.test(key)) return key;
  throw invalidHeader('Idempotency-Key', `must be 1 to ${String(MAX_KEY_LENGTH)} printable ASCII characters`);
}
