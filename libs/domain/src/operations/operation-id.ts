import { joinIds } from '../event/join-ids.js';
import { uuidBytes, uuidV5 } from '../event/uuid-v5.js';

const NAMESPACE = uuidBytes('0d0b9a55-3c1c-4d56-9d5e-5f2a3b0f5b77');

/** What tells operational events of one subscription apart: which delivery, or when. */
export interface OperationIdentity {
  readonly subscriptionId: string;
  readonly type: string;
  readonly about: string;
}

/** The id of an operational event: the same when it is told again after a crash. */
export function operationId({ subscriptionId, type, about }: OperationIdentity): string {
  return uuidV5(NAMESPACE, joinIds(subscriptionId, type, about));
}
