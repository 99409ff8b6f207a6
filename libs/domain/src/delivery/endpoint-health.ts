/** What is remembered of an endpoint's failures. */
export interface EndpointHealth {
  /** End of the first failed attempt since the last accepted one, epoch ms; null: the last attempt was accepted. */
  readonly failingSince: number | null;
  /** Since when its deliveries are held, epoch ms; null: they are not. */
  readonly suspendedAt: number | null;
}

export const HEALTHY: EndpointHealth = Object.freeze({ failingSince: null, suspendedAt: null });

/** Of nothing but failures, until a subscription that asks for it is suspended. */
export const SUSPEND_AFTER_MS = 5 * 60_000;
/** Between the probes of a suspended subscription. */
export const PROBE_EVERY_MS = 15_000;
/** Of nothing but failures, until a subscription is disabled. */
export const DISABLE_AFTER_MS = 7 * 86_400_000;

export interface EndpointAttempt {
  readonly isAccepted: boolean;
  /** Epoch milliseconds. */
  readonly endedAt: number;
  /** fail | hold, of the subscription. */
  readonly onOutage: string;
}

export interface HealthVerdict {
  readonly health: EndpointHealth;
  readonly change: 'none' | 'suspended' | 'resumed';
  /** It has failed for so long that it should be switched off; said at every further failure. */
  readonly isDisableDue: boolean;
}

/** What an attempt or a probe says of its endpoint. */
export function healthAfter(before: EndpointHealth, { isAccepted, endedAt, onOutage }: EndpointAttempt): HealthVerdict {
  if (isAccepted) {
    const change = before.suspendedAt === null ? 'none' : 'resumed';
    return { health: HEALTHY, change, isDisableDue: false };
  }
  const failingSince = before.failingSince ?? endedAt;
  const failedForMs = endedAt - failingSince;
  const isDisableDue = failedForMs >= DISABLE_AFTER_MS;
  const isSuspending = before.suspendedAt === null && onOutage === 'hold' && failedForMs >= SUSPEND_AFTER_MS;
  if (isSuspending) return { health: { failingSince, suspendedAt: endedAt }, change: 'suspended', isDisableDue };
  if (failingSince === before.failingSince) return { health: before, change: 'none', isDisableDue };
  return { health: { failingSince, suspendedAt: before.suspendedAt }, change: 'none', isDisableDue };
}
