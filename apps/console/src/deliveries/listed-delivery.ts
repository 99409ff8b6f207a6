import type { V2Event } from '@waypost/client';

/** A row of the list, without the payload and what was answered: those are many times as much, and a list keeps all its rows. */
export interface ListedDelivery extends Omit<V2Event, 'payload' | 'body' | 'delivery'> {
  readonly delivery: Omit<V2Event['delivery'], 'attempts'> & { readonly lastError?: string | undefined };
}

export function listed({ payload: _payload, body: _body, delivery, ...event }: V2Event): ListedDelivery {
  const { attempts, ...about } = delivery;
  return { ...event, delivery: { ...about, lastError: attempts.at(-1)?.error } };
}
