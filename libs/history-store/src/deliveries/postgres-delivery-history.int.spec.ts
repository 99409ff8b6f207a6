import { createDataSource, createPageSource } from '@waypost/database';
import { createTestDatabase } from '../../../../test/support/test-database.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { NOW } from './attempt-samples.contract.js';
import { describeDeliveryStore, type OpenedDeliveryStore } from './delivery-store.contract.js';
import { createDeliveryHistory } from './postgres-delivery-history.js';
import { createDeliveryProjection } from './postgres-delivery-projection.js';

async function open(): Promise<OpenedDeliveryStore> {
  const database = await createTestDatabase(requireTestStack().databaseUrl);
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
