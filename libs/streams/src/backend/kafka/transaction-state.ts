import { StreamsError } from '../../errors.js';

/**
 * The life of a transactional producer. `fenced` and `failed` are final: a producer is never used again after any
 * failure, because neither its sequence numbers nor the outcome of its transaction are known any more.
 */
export type TransactionState = 'new' | 'initialising' | 'idle' | 'open' | 'committing' | 'fenced' | 'failed' | 'closed';

const LEGAL_MOVES: Readonly<Record<TransactionState, readonly TransactionState[]>> = {
  new: ['initialising', 'closed'],
  initialising: ['idle', 'fenced', 'failed', 'closed'],
  idle: ['open', 'closed'],
  open: ['committing', 'fenced', 'failed', 'closed'],
  committing: ['idle', 'fenced', 'failed', 'closed'],
  fenced: ['closed'],
  failed: ['closed'],
  closed: [],
};

export interface TransactionStateMachine {
  readonly state: TransactionState;
  /** @throws StreamsError ILLEGAL_TRANSACTION_MOVE */
  moveTo(next: TransactionState): void;
}

export const createTransactionStateMachine = (transactionalId: string): TransactionStateMachine => {
  let state: TransactionState = 'new';
  return {
    get state() {
      return state;
    },
    moveTo(next) {
      if (!LEGAL_MOVES[state].includes(next)) {
        throw new StreamsError(
          'ILLEGAL_TRANSACTION_MOVE',
          `The producer ${transactionalId} cannot go from ${state} to ${next}: close it and make another.`,
        );
      }
      state = next;
    },
  };
};
