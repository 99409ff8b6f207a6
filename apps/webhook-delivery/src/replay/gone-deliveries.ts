import { topics } from '@waypost/contracts';
import { deliveryOfAttempt, type WebhookAttempt, type WebhookDelivery, type WebhookReplay } from '@waypost/domain';
import { LogPass } from './log-pass.js';
import type { Selection, SelectionDeps } from './select-deliveries.js';

/** A delivery that is to be sent again, with its offset in the log. */
export interface OriginalDelivery {
  readonly offset: number;
  readonly delivery: WebhookDelivery;
}

export interface GoneOptions {
  readonly replay: WebhookReplay;
  readonly selection: Selection;
  readonly attemptsEnd: number;
  readonly from: number;
  /** Exclusive. */
  readonly end: number;
}

/** The size limit for the bodies of one portion. */
const MAX_CHARACTERS = 4_194_304;

/**
 * Finds selected deliveries whose own records have been deleted by retention: a delivery may wait 15 days for its first
 * attempt, and stay in the history for 15 more. The record of the first attempt has everything,
 * including the exact body.
 *
 * Portions are in offset order because a replay's progress is an offset.
 */
export class GoneDeliveries {
  private readonly pass: LogPass<WebhookAttempt>;
  private found = new Map<number, WebhookDelivery>();
  private characters = 0;
  private end: number;

  constructor(
    { backend, codecs, partition }: SelectionDeps,
    private readonly options: GoneOptions,
  ) {
    const { replay, attemptsEnd, end } = options;
    const { subscriptionId, startDate: from } = replay;
    const log = { topic: topics.webhookAttempts.name, partition };
    this.pass = new LogPass(backend, codecs.webhookAttempts, { log, subscriptionId, from, end: attemptsEnd });
    this.end = end;
  }

  /** @returns the deliveries before `end`, in log order; null: it had to yield, after some progress */
  async portion(
    mayContinue: () => boolean,
    signal: AbortSignal,
  ): Promise<{ readonly deliveries: readonly OriginalDelivery[]; readonly end: number } | null> {
    if (!(await this.pass.read((attempt) => this.note(attempt), mayContinue, signal))) return null;
    this.keepFirst();
    return { deliveries: [...this.found].map(([offset, delivery]) => ({ offset, delivery })), end: this.end };
  }

  /** @returns whether no later attempt can be selected */
  private note(attempt: WebhookAttempt): boolean {
    const { selection, from } = this.options;
    const { deliveryOffset } = attempt;
    if (deliveryOffset < from || deliveryOffset >= this.end || !selection.has(deliveryOffset)) return false;
    const delivery = deliveryOfAttempt(attempt);
    if (delivery === null) return false;
    this.found.set(deliveryOffset, delivery);
    this.characters += delivery.body.length;
    if (this.characters > 2 * MAX_CHARACTERS) this.keepFirst();
    return this.found.size === selection.matched;
  }

  /** Leaves what exceeds one portion to the next one. */
  private keepFirst(): void {
    const sorted = [...this.found].sort(([a], [b]) => a - b);
    this.found = new Map();
    this.characters = 0;
    for (const [offset, delivery] of sorted) {
      this.characters += delivery.body.length;
      if (this.characters > MAX_CHARACTERS && this.found.size > 0) {
        this.end = offset;
        this.characters -= delivery.body.length;
        return;
      }
      this.found.set(offset, delivery);
    }
  }
}
