import { createDataSource, createPageSource } from '@waypost/database';
import { createTestDatabase } from '../../../../test/support/test-database.js';
import { NOW } from './attempt-samples.contract.js';
import { describeDeliveryStore, type OpenedDeliveryStore } from './delivery-store.contract.js';
import { createDeliveryHistory } from './postgres-delivery-history.js';
import { createDeliveryProjection } from './postgres-delivery-projection.js';

async function open(): Promise<OpenedDeliveryStore> {
  const database = await createTestDatabase(process.env['WAYPOST_TEST_DATABASE_URL'] ?? '');
  const dataSource = createDataSource(database.url);
  await dataSource.initialize();
  const pages = createPageSource(database.apiUrl);
  return {
    projection: createDeliveryProjection({ dataSource, now: () => NOW }),
    history: createDeliveryHistory({ pages }),
    close: async () => {
      await pages.close();
      await dataSource.destroy();
      await database.drop();
    },
  };
}

describeDeliveryStore('PostgreSQL', open, 25);
