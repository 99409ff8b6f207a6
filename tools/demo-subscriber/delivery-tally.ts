/** Counts what arrives, for the summary line. */
export interface DeliveryTally {
  verified(event: ReceivedEvent, nowMs: number): void;
  bad(): void;
  /** Of everything since the start; the delays are those since the last call. */
  summary(): string;
}

export interface ReceivedEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly eventTime: string;
}

const rememberedIds = 100_000;
const rememberedDelays = 20_000;

export function createDeliveryTally(): DeliveryTally {
  const seen = new Set<string>();
  const perType = new Map<string, number>();
  let delaysMs: number[] = [];
  let verified = 0;
  let bad = 0;
  let repeats = 0;

  function remember(eventId: string): boolean {
    if (seen.has(eventId)) return false;
    seen.add(eventId);
    // Sets keep their order: the first is the oldest.
    for (const oldest of seen) {
      if (seen.size <= rememberedIds) break;
      seen.delete(oldest);
    }
    return true;
  }

  return {
    verified({ eventId, eventType, eventTime }, nowMs) {
      verified += 1;
      if (!remember(eventId)) {
        repeats += 1;
        return;
      }
      perType.set(eventType, (perType.get(eventType) ?? 0) + 1);
      if (delaysMs.length < rememberedDelays) delaysMs.push(nowMs - Date.parse(eventTime));
    },
    bad() {
      bad += 1;
    },
    summary() {
      const types = [...perType].map(([type, count]) => `${type} ${String(count)}`).join(', ');
      const delays = delayText(delaysMs);
      delaysMs = [];
      const counts = `verified ${String(verified)}, bad ${String(bad)}, repeats ${String(repeats)}`;
      return `webhooks: ${types === '' ? 'none yet' : types} | ${counts}${delays}`;
    },
  };
}

function delayText(delaysMs: readonly number[]): string {
  if (delaysMs.length === 0) return '';
  const sorted = [...delaysMs].sort((a, b) => a - b);
  const at = (share: number): string => {
    const delayMs = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return `${(delayMs / 1_000).toFixed(1)} s`;
  };
  return ` | ping to webhook: median ${at(0.5)}, p99 ${at(0.99)}`;
}
