import { formatTime, type OperationalEvent } from '@waypost/domain';

/** An operational event as the API shows it. */
export interface OperationResource {
  readonly id: string;
  readonly type: string;
  readonly occurredAt: string;
  readonly reason: string;
  readonly eventId?: string;
  readonly statusCode?: number;
  readonly error?: string;
}

export function toOperationResource(event: OperationalEvent): OperationResource {
  const { id, type, occurredAt, reason, eventId, statusCode, errorCode } = event;
  return {
    id,
    type,
    occurredAt: formatTime(occurredAt),
    reason,
    ...(eventId === null ? {} : { eventId }),
    ...(statusCode === null ? {} : { statusCode }),
    ...(errorCode === null ? {} : { error: errorCode }),
  };
}
