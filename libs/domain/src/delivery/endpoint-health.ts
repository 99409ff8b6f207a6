export interface EndpointHealth {
  readonly failingSince: number | null;
  readonly suspendedAt: number | null;
}

export const HEALTHY: EndpointHealth = Object.freeze({ failingSince: null, suspendedAt: null });

/** only failures for this long. */
export const SUSPEND_AFTER_MS = 5 * 60_000;
/** */
export const PROBE_EVERY_MS = 15_000;
export const DISABLE_AFTER_MS = 7 * 86_400_000;

export interface EndpointAttempt {
  readonly isAccepted: boolean;
  readonly endedAt: number;
  readonly onOutage: string;
}

export interface HealthVerdict {
  readonly health: EndpointHealth;
  readonly change: 'none' | 'suspended' | 'resumed';
  readonly isDisableDue: boolean;
}

/** R-29, after an attempt or a probe. */
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
