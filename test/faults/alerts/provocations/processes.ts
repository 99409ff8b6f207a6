import { topics } from '@waypost/contracts';
import { connectKafka } from '@waypost/streams/admin';
import { until } from '../../../support/until.js';
import type { Provocation } from '../provocation.js';
import type { Scene } from '../scene.js';
import type { App } from '../stage.js';

/** What happens to processes, partitions and the broker. */
export const ofProcesses: readonly Provocation[] = [
  {
    alerts: ['WaypostAppAbsent'],
    by: 'SIGTERM to the only process of history-projector',
    endedBy: 'it is started',
    async provoke(scene) {
      const { instance } = scene.app('history-projector');
      await instance.stop();
      return () => instance.start();
    },
  },
  {
    alerts: ['WaypostInstanceDown'],
    by: 'SIGSTOP to one of two processes of telemetry-processor',
    endedBy: 'it is killed and started again',
    provoke(scene) {
      const { instance } = scene.app('telemetry-processor');
      instance.pause();
      return Promise.resolve(async () => {
        await instance.kill();
        instance.start();
      });
    },
  },
  {
    alerts: ['WaypostPartitionParked'],
    by: 'webhook-delivery is down while records that it has not read are deleted, as by retention',
    endedBy: '`tasks seek` to `earliest` for each task that `tasks list` shows, since their position is lost',
    async provoke(scene) {
      const { instance } = scene.app('webhook-delivery');
      await instance.stop();
      await deleteUnread(scene, topics.fleetEvents.name);
      instance.start();
      return async () => {
        const parked = await scene.waypost.cliLines<{ task: string }>('tasks', 'list');
        for (const { task } of parked) await scene.waypost.cli('tasks', 'seek', task, 'earliest');
      };
    },
  },
  {
    alerts: ['WaypostTaskStarts'],
    by: 'telemetry-processor restarts and restores over a slow network',
    endedBy: 'the network is fast again',
    firesWithinMs: 120_000,
    async provoke(scene) {
      await scene.publish(5_000);
      await scene.waypost.cli('wait', '--idle', '1');
      const processors = scene.apps.filter(({ name }) => name === 'telemetry-processor');
      await Promise.all(processors.map(({ instance }) => instance.kill()));
      for (const { toBroker } of processors) toBroker.shape({ bytesPerSecond: 8_000 });
      for (const { instance } of processors) instance.start();
      return () => {
        for (const { toBroker } of processors) toBroker.heal();
      };
    },
  },
  {
    alerts: ['WaypostGroupIdle'],
    by: 'public-api is restarted after its topic `webhook.operations` was deleted',
    endedBy: '`set-up` of the runbook makes the topic',
    async provoke(scene) {
      const { instance } = scene.app('public-api');
      await instance.stop();
      await withAdmin(scene, (admin) => admin.deleteTopics({ topics: [topics.webhookOperations.name] }));
      instance.start();
      return () => undefined;
    },
  },
  {
    alerts: ['WaypostStalled'],
    by: 'another producer leaves a transaction on `telemetry.pings` open',
    endedBy: 'that producer ends it',
    firesWithinMs: 120_000,
    async provoke(scene) {
      const producer = connectKafka(scene.kafka).producer({
        transactionalId: 'forgetful',
        transactionTimeout: 600_000,
      });
      await producer.connect();
      const transaction = await producer.transaction();
      await transaction.send({ topic: topics.telemetryPings.name, messages: [{ key: 'a', value: 'never committed' }] });
      await scene.publish(100);
      return async () => {
        await transaction.abort();
        await producer.disconnect();
      };
    },
  },
  {
    alerts: ['WaypostRestarts'],
    by: 'SIGKILL to history-projector, three times',
    endedBy: 'nothing more',
    async provoke(scene) {
      const app = scene.app('history-projector');
      for (let time = 0; time < 3; time += 1) {
        const before = await startTime(scene, app);
        await app.instance.kill();
        app.instance.start();
        await until(async () => ![undefined, before].includes(await startTime(scene, app)), { timeoutMs: 60_000 });
      }
      return () => undefined;
    },
  },
];

/** As Prometheus knows it now. */
async function startTime({ prometheus }: Scene, { adminUrl }: App): Promise<string | undefined> {
  const instance = new URL(adminUrl).host;
  const [series] = await prometheus.query(`process_start_time_seconds{instance="${instance}"}`);
  return series?.value[1];
}

type Admin = ReturnType<ReturnType<typeof connectKafka>['admin']>;

async function withAdmin(scene: Scene, work: (admin: Admin) => Promise<unknown>): Promise<void> {
  const admin = connectKafka(scene.kafka).admin();
  await admin.connect();
  await work(admin);
  await admin.disconnect();
}

/** Events until every partition has some that nothing has read, of which all but the last go. */
async function deleteUnread(scene: Scene, topic: string): Promise<void> {
  await withAdmin(scene, async (admin) => {
    const before = await admin.fetchTopicOffsets(topic);
    await scene.publish(200);
    await until(
      async () => {
        const now = await admin.fetchTopicOffsets(topic);
        const highNow = (partition: number) => Number(now.find((one) => one.partition === partition)?.high);
        return before.every(({ partition, high }) => highNow(partition) > Number(high) + 10);
      },
      { timeoutMs: 60_000 },
    );
    const partitions = (await admin.fetchTopicOffsets(topic)).map(({ partition, high }) => ({
      partition,
      offset: String(Number(high) - 5),
    }));
    await admin.deleteTopicRecords({ topic, partitions });
  });
}
