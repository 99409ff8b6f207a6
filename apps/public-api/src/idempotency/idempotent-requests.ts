import type { ChangeStores, IdempotencyRef, IdempotencyStore, KeptAnswer } from '@waypost/management-store';
import type { Request } from 'express';
import type { Caller } from '../auth/caller.js';
import { type AnswerSealerDeps, createAnswerSealer } from './answer-sealer.js';
import { idempotencyKey } from './idempotency-key.js';
import { answerLost, inProgress, keyReused } from './idempotency-refusals.js';
import { requestFingerprint } from './request-fingerprint.js';

/** What a change is answered with, and the outbox rows that the answer waits for. */
export interface Change<T> {
  readonly answer: T;
  readonly outboxIds: readonly string[];
}

/**
 * Makes a change and waits until it is published. `make` runs inside one SQL transaction when the request carries a
 * key: it uses the stores that it is given, and waits for nothing but them.
 */
export type MakeChange<T> = (make: (stores: ChangeStores) => Promise<Change<T>>) => Promise<T>;

/** Answers requests that create something, and those with an `Idempotency-Key` once, however often they are sent. */
export interface IdempotentRequests {
  /**
   * @param work checks what must be checked, and calls `change` once with what is to be done
   * @throws ApiError 422 when the key was used for another request, 409 while that request is being worked on
   */
  answer<T>(request: Request, caller: Caller, work: (change: MakeChange<T>) => Promise<T>): Promise<T>;
}

export interface IdempotentRequestsDeps extends AnswerSealerDeps {
  readonly store: ChangeStores & { readonly idempotency: IdempotencyStore };
  readonly untilPublished: (outboxIds: readonly string[]) => Promise<void>;
  readonly now: () => number;
}

/** Says that the answer is one that was given before. */
export const REPLAYED_HEADER = 'idempotent-replayed';

export function createIdempotentRequests(deps: IdempotentRequestsDeps): IdempotentRequests {
  const { store, now } = deps;
  const sealer = createAnswerSealer(deps);

  async function published<T>({ answer, outboxIds }: Change<T>): Promise<T> {
    if (outboxIds.length > 0) await deps.untilPublished(outboxIds);
    return answer;
  }

  /** Only what succeeded is kept: a refusal changed nothing, and may be different the next time. */
  async function once<T>(request: Request, ref: IdempotencyRef, work: (change: MakeChange<T>) => Promise<T>) {
    const fingerprint = requestFingerprint(request);
    const again = async ({ sealed, outboxIds }: KeptAnswer): Promise<T> => {
      const answered = sealer.open(ref, sealed);
      if (answered === null) throw answerLost();
      if (answered.fingerprint !== fingerprint) throw keyReused();
      request.res?.set(REPLAYED_HEADER, 'true');
      return published({ answer: answered.answer as T, outboxIds });
    };
    const kept = await store.idempotency.find(ref, now());
    if (kept !== null) return again(kept);
    return work(async (make) => {
      const result = await store.idempotency.once(ref, now(), async (stores) => {
        const made = await make(stores);
        const sealed = sealer.seal(ref, { fingerprint, answer: made.answer });
        return { made, answer: { sealed, outboxIds: made.outboxIds } };
      });
      if (result.type === 'in_progress') throw inProgress();
      return result.type === 'kept' ? again(result.answer) : published(result.made);
    });
  }

  return {
    async answer(request, caller, work) {
      const key = idempotencyKey(request);
      if (key === null) return work(async (make) => published(await make(store)));
      return once(request, { fleetId: caller.fleetId, route: routeOf(request), key }, work);
    },
  };
}

/** Method and path template: a key means one thing on one route. */
function routeOf(request: Request): string {
  const { path } = request.route as { readonly path: string };
  return `${request.method} ${path}`;
}
