import type { Certificate } from '../stack/receivers.js';
import { NumberTable } from '../workers/number-table.js';
import { type Behavior, HEALTHY } from './behaviors.js';
import { createOrigin, type Origin, RECEIPT_WIDTH, secureContextOf } from './origin.js';

/** The endpoints of the benchmark. */
export function createSink(now: () => number) {
  const receipts = NumberTable.empty(RECEIPT_WIDTH);
  const behaviors: Behavior[] = [];
  /** By endpoint. */
  const origins: Origin[] = [];
  let answered200 = 0;
  let answeredOther = 0;

  function onAnswered(status: number): void {
    if (status === 200) answered200 += 1;
    else answeredOther += 1;
  }

  async function open(ports: readonly number[], certificate: Certificate): Promise<void> {
    const secureContext = secureContextOf(certificate);
    const byPort = new Map<number, Origin>();
    for (const port of ports) {
      const origin = byPort.get(port) ?? createOrigin({ port, receipts, behaviors, now, onAnswered, secureContext });
      byPort.set(port, origin);
      origins.push(origin);
      behaviors.push(HEALTHY);
      await origin.open();
    }
  }

  async function behave(endpoint: number, behavior: Behavior): Promise<void> {
    const before = behaviors[endpoint];
    const origin = origins[endpoint];
    behaviors[endpoint] = behavior;
    if (behavior.type === 'refuse') await origin?.close();
    else await origin?.open();
    // Late answers are still given. Other callers are let go, and the next ones open connections.
    const isLate = before?.type === 'answer' && before.delayMs > 0;
    if (!isLate) origin?.dropConnections();
  }

  function forget(): void {
    receipts.clear();
    answered200 = 0;
    answeredOther = 0;
  }

  return {
    answered200: () => answered200,
    handle(message: SinkRequestMessage): unknown {
      switch (message.type) {
        case 'open':
          return open(message.ports, message.certificate);
        case 'behave':
          return Promise.all(message.endpoints.map((endpoint) => behave(endpoint, message.behavior)));
        case 'count':
          return { received: receipts.rows, answered200, answeredOther, atMs: now() } satisfies SinkCount;
        case 'forget':
          forget();
          return null;
        case 'save':
          receipts.save(message.file);
          return receipts.rows;
      }
    },
  };
}

export type SinkRequestMessage =
  /** Ports by endpoint; several may share one. */
  | { readonly type: 'open'; readonly ports: readonly number[]; readonly certificate: Certificate }
  | { readonly type: 'behave'; readonly endpoints: readonly number[]; readonly behavior: Behavior }
  | { readonly type: 'count' }
  | { readonly type: 'forget' }
  | { readonly type: 'save'; readonly file: string };

export interface SinkCount {
  readonly received: number;
  readonly answered200: number;
  readonly answeredOther: number;
  readonly atMs: number;
}
