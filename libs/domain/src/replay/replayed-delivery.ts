import type { WebhookDelivery } from '../delivery/webhook-delivery.js';
import type { WebhookReplay } from './webhook-replay.js';

/** The delivery as it is sent again: same id, same bytes, in the series of the replay. */
export function replayedDelivery(
  delivery: WebhookDelivery,
  replay: Pick<WebhookReplay, 'replayId' | 'series'>,
  nowMs: number,
): WebhookDelivery {
  return { ...delivery, series: replay.series, replayId: replay.replayId, createdAt: nowMs };
}
