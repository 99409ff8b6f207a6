import type { OperationalEvent } from '@waypost/domain';

/** Where a page of operations goes on: the last one's place. */
export interface OperationPosition {
  readonly occurredAt: number;
  readonly id: string;
}

export interface OperationQuery {
  readonly fleetId: string;
  readonly subscriptionId: string;
  readonly limit: number;
  /** null: from the newest on. */
  readonly before: OperationPosition | null;
}

/** The newest operational events of each subscription. The log `webhook.operations` holds all of them. */
export interface OperationStore {
  /**
   * Keeps those that are not kept already, then of each subscription and type only the newest OPERATIONS_KEPT. Ids must
   * be UUIDs.
   */
  keep(events: readonly OperationalEvent[]): Promise<void>;
  /** Newest first. */
  list(query: OperationQuery): Promise<readonly OperationalEvent[]>;
  /** Forgets those that happened before this time (epoch ms); returns how many. */
  trim(occurredBeforeMs: number): Promise<number>;
}

/**
 * Of each type, so that thousands of exhausted deliveries do not push out the one event that says why a subscription was
 * disabled.
 */
export const OPERATIONS_KEPT = 500;
