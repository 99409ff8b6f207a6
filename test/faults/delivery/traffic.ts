import { startEventLoad } from '../../../bench/delivery/load/event-load.js';
import { openEventWriter } from '../../../bench/delivery/load/event-writer.js';
import { SENT } from '../../../bench/delivery/load/messages.js';
import type { Log } from '../shared/stage.js';
import { EVENT_TYPE, fleetIds, isWanting, type Subscriber } from './subscribers.js';

export interface TrafficOptions extends Log {
  readonly deliveriesPerSecond: number;
  readonly subscribers: readonly Subscriber[];
  readonly now: () => number;
}

export interface Traffic {
  readonly sent: () => number;
  /** Resolves when the broker has all events, with what has to come of them. */
  stop(): Promise<{ readonly events: number; readonly deliveries: number }>;
}

/** More than any run sends. */
const ENOUGH = 1e9;

/** Events at a steady rate, whatever becomes of them, for each fleet in turn. */
export async function startTraffic(options: TrafficOptions): Promise<Traffic> {
  const { kafka, registryUrl, deliveriesPerSecond, subscribers, now } = options;
  const writer = await openEventWriter({ brokers: kafka.brokers, registryUrl });
  const targets = fleetIds.map((fleetId) => ({ fleetId, eventType: EVENT_TYPE, weight: 1 }));
  const wanting = subscribers.filter(isWanting).map(({ subscription }) => subscription.fleetId);
  const deliveriesOf = fleetIds.map((fleetId) => wanting.filter((one) => one === fleetId).length);
  const perSecond = (deliveriesPerSecond * fleetIds.length) / wanting.length;
  const load = startEventLoad(
    writer,
    { targets, amount: { type: 'rate', perSecond, events: ENOUGH } },
    { firstEvent: 1, now },
  );
  return {
    sent: () => load.sent.rows,
    async stop() {
      load.stop();
      const { events } = await load.done;
      await writer.close();
      let deliveries = 0;
      for (let row = 0; row < events; row += 1) deliveries += deliveriesOf[load.sent.get(row, SENT.target)] ?? 0;
      return { events, deliveries };
    },
  };
}
