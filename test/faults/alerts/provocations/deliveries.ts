import { topics } from '@waypost/contracts';
import { connectKafka } from '@waypost/streams/admin';
import { type Behavior, ok, type Receiver } from '../../../support/receiver.js';
import type { Provocation } from '../provocation.js';

const status =
  (code: number): Behavior =>
  () => ({ type: 'respond', status: code });
const silent: Behavior = () => ({ type: 'hang' });

const FLEETS = 40;

/** What happens to deliveries and records. */
export const ofDeliveries: readonly Provocation[] = [
  {
    alerts: ['WaypostNotReady', 'WaypostOutboxStuck'],
    by: 'the broker is stopped, then a subscription is created',
    endedBy: 'the broker is started',
    firesWithinMs: 120_000,
    async provoke(scene) {
      scene.onEnd(() => scene.broker.start());
      await scene.broker.stop();
      // It is stored, and published when the broker is back.
      await scene.receiver().catch(() => undefined);
      return () => scene.broker.start();
    },
  },
  {
    alerts: ['WaypostRetriesLate', 'WaypostEventLoopSlow'],
    by: 'webhook-delivery gets a fifth of its CPU while a server refuses with 503',
    endedBy: 'it gets all of it',
    async provoke(scene) {
      await scene.receiver(status(503));
      scene.keep(500, () => scene.publish(10));
      return scene.starve(scene.app('webhook-delivery'));
    },
  },
  {
    alerts: ['WaypostRecordsRejected', 'WaypostPingsRejected'],
    by: 'a record on `fleet.events` that is not Avro, and devices whose clocks are an hour ahead',
    endedBy: 'nothing more of their kind',
    async provoke(scene) {
      const producer = connectKafka(scene.kafka).producer();
      await producer.connect();
      await producer.send({ topic: topics.fleetEvents.name, messages: [{ key: 'a', value: 'not Avro' }] });
      await producer.disconnect();
      await scene.publish(100);
      await scene.publish(20, { aheadMs: 3_600_000 });
      return () => undefined;
    },
  },
  {
    alerts: ['WaypostDeliveriesPastDue'],
    by: '20 subscriptions of a fleet to one server that never answers',
    endedBy: 'the server answers',
    firesWithinMs: 450_000,
    async provoke(scene) {
      const receiver = await scene.receiver(silent, { subscriptions: 20 });
      await scene.publish(400);
      return () => receiver.behave(ok);
    },
  },
  {
    alerts: ['WaypostReservationsExhausted'],
    by: `the servers of ${String(FLEETS)} fleets refuse everything with 503`,
    endedBy: 'they accept',
    firesWithinMs: 120_000,
    async provoke(scene) {
      const receivers: Receiver[] = [];
      for (let number = 0; number < FLEETS; number += 1) {
        const fleet = `${scene.fleet}-${String(number)}`;
        await scene.createFleet(fleet);
        receivers.push(await scene.receiver(status(503), { fleet, subscriptions: 5 }));
        await scene.publish(80, { fleet });
      }
      return () => {
        for (const receiver of receivers) receiver.behave(ok);
      };
    },
  },
  {
    alerts: ['WaypostDeliveriesFail'],
    by: 'a server answers 404',
    endedBy: 'it accepts, and a replay sends what failed again',
    firesWithinMs: 120_000,
    async provoke(scene) {
      const receiver = await scene.receiver(status(404));
      scene.keep(500, () => scene.publish(5));
      return async () => {
        receiver.behave(ok);
        const { data } = await scene.api<{ data: { id: string }[] }>('GET', '/public/v1/webhook-subscriptions');
        const dates = { startDate: inMinutes(-10), endDate: inMinutes(1) };
        await scene.api('POST', `/public/v1/webhook-subscriptions/${String(data[0]?.id)}/replays`, {
          ...dates,
          status: 'failed',
        });
      };
    },
  },
];

function inMinutes(minutes: number): string {
  return new Date(Date.now() + minutes * 60_000).toISOString();
}
