import type { LoadPlan } from './messages.js';

/** How much is to be sent by when. */
export interface Amount {
  /** Events to send now, which may be 0 or less; null: that was all. */
  wanted(nowMs: number, sent: number): number | null;
  readonly answered: (count: number) => void;
  /** How far the sending was behind at worst. */
  readonly behindMs: () => number;
  readonly stepMs: number;
}

/** Small, as latency is measured from each event's commit; without a rate, in batches that cost little. */
const STEP_MS = { rate: 5, closed: 25, flood: 0 } as const;

export function createAmount(plan: LoadPlan['amount'], startedMs: number): Amount {
  const stepMs = STEP_MS[plan.type];
  let answeredCount = 0;
  let answeredBefore: number | null = null;
  let behindMs = 0;

  function wanted(nowMs: number, sent: number): number | null {
    switch (plan.type) {
      case 'rate': {
        const left = plan.events - sent;
        const due = Math.min(left, Math.floor(((nowMs - startedMs) * plan.perSecond) / 1_000) - sent);
        behindMs = Math.max(behindMs, (due / plan.perSecond) * 1_000 - stepMs);
        return left <= 0 ? null : due;
      }
      case 'closed': {
        const delivered = (answeredCount - (answeredBefore ?? answeredCount)) / plan.deliveriesPerEvent;
        return plan.underWay - (sent - delivered);
      }
      case 'flood':
        return sent >= plan.events ? null : plan.events - sent;
    }
  }

  return {
    ...{ wanted, stepMs },
    behindMs: () => behindMs,
    answered: (count) => {
      answeredBefore ??= count;
      answeredCount = count;
    },
  };
}
