import type { Provocation } from '../provocation.js';
import { queryOf } from '../runbook.js';
import type { Scene } from '../scene.js';

/** What happens to public-api and its database. */
export const ofTheApi: readonly Provocation[] = [
  {
    alerts: [
      'WaypostDatabaseAway',
      'WaypostRequestsFail',
      'WaypostSignalAbsent',
      'WaypostBatchHangs',
      'WaypostHistoryBehind',
    ],
    by: 'the database is stopped while deliveries go on and clients read pages',
    endedBy: 'the database is started',
    firesWithinMs: 120_000,
    async provoke(scene) {
      await scene.receiver();
      readPages(scene, 2);
      await scene.publish(10);
      scene.keep(1_000, () => scene.publish(10));
      return stopDatabase(scene);
    },
  },
  {
    alerts: ['WaypostConnectionsAwaited'],
    by: 'a session locks the table of deliveries while 20 clients read pages',
    endedBy: 'the session that the query of the runbook names is ended',
    async provoke(scene) {
      await scene.receiver();
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      const locked = scene.database.query(async (client) => {
        await client.query('BEGIN');
        await client.query('LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE');
        await held;
      });
      scene.onEnd(async () => {
        release();
        await locked;
      });
      readPages(scene, 20);
      return endBlockers(scene);
    },
  },
  {
    alerts: ['WaypostPagesSlow'],
    by: 'each answer of the database takes half a second more',
    endedBy: 'it is fast again',
    provoke(scene) {
      const { toDatabase } = scene.app('public-api');
      toDatabase.shape({ delayMs: 500 });
      readPages(scene, 4);
      scene.onEnd(() => toDatabase.heal());
      return Promise.resolve(() => toDatabase.heal());
    },
  },
];

function readPages(scene: Scene, clients: number): void {
  const query = `startDate=${new Date(Date.now() - 3_600_000).toISOString()}&endDate=${new Date(Date.now() + 3_600_000).toISOString()}`;
  for (let client = 0; client < clients; client += 1)
    scene.keep(100, () => scene.api('GET', `/public/v2/events?${query}`));
}

/** The query lists those first that have been open for longest. */
function endBlockers({ database }: Scene): () => Promise<void> {
  return () =>
    database.query(async (client) => {
      const { rows } = await client.query<{ pid: number }>(queryOf('WaypostConnectionsAwaited'));
      await client.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    });
}

async function stopDatabase({ database, onEnd }: Scene): Promise<() => Promise<void>> {
  let isStopped = true;
  const start = async (): Promise<void> => {
    if (isStopped) await database.start();
    isStopped = false;
  };
  onEnd(start);
  await database.stop();
  return start;
}
