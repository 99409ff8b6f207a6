import { topics } from '@waypost/contracts';
import type { FleetEvent, TelemetryPing, WebhookDelivery } from '@waypost/domain';
import type { StackEnvironment } from '../../apps/cli/src/stack/stack-config.js';
import { decodeBatch } from '../../apps/cli/src/topic-reading/decode-batch.js';
import { openLog } from '../../apps/cli/src/topic-reading/open-log.js';
import type { StageLatency } from './stage-latency.js';

interface FollowOptions {
  readonly stack: StackEnvironment;
  readonly fleetId: string;
  readonly latency: StageLatency;
  readonly onPing: () => void;
  /** Epoch ms from which the logs are read. */
  readonly fromMs: number;
  readonly stopped: AbortSignal;
}

type Observer = (value: never, appendedAtMs: number) => void;

/** Reads the append times of one fleet's pings, events and deliveries as they are written, until stopped. */
export async function followLogs({ stack, fleetId, latency, onPing, fromMs, stopped }: FollowOptions): Promise<void> {
  async function follow(topicName: string, observe: Observer): Promise<void> {
    const log = openLog(stack, topicName);
    stopped.addEventListener('abort', () => void log.close(), { once: true });
    try {
      await log.read({ from: fromMs, to: null, untilEnd: false }, async (batch) => {
        for (const { value, timestamp } of await decodeBatch(log.codec, batch)) {
          if ((value as { readonly fleetId?: string } | null)?.fleetId === fleetId) observe(value as never, timestamp);
        }
      });
    } catch (error) {
      if (!stopped.aborted) throw error;
    }
  }

  await Promise.all([
    follow(topics.telemetryPings.name, ({ deviceId, eventTime }: TelemetryPing, atMs) => {
      onPing();
      latency.pingAppended({ deviceId, eventTimeMs: eventTime }, atMs);
    }),
    follow(topics.fleetEvents.name, ({ deviceId, eventType, eventTime }: FleetEvent, atMs) => {
      latency.eventAppended({ deviceId, eventType, eventTimeMs: eventTime }, atMs);
    }),
    follow(topics.webhookDeliveries.name, ({ deviceId, eventType, eventTime }: WebhookDelivery, atMs) => {
      latency.deliveryAppended({ deviceId, eventType, eventTimeMs: eventTime }, atMs);
    }),
  ]);
}
