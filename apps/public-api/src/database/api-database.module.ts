import { Module } from '@nestjs/common';
import { DatabaseModule, type DatabaseModuleOptions, DatabaseRetry, PageSource } from '@waypost/database';
import { DeliveryHistory, PathHistory } from '@waypost/domain';
import {
  createDeliveryFigures,
  createDeliveryHistory,
  createPathHistory,
  createResendableDeliveries,
  createSubscriptionActivities,
  DeliveryFigures,
  ResendableDeliveries,
  SubscriptionActivities,
} from '@waypost/history-store';
import { ManagementStoreModule } from '@waypost/management-store';
import { CONFIG, LOGGER, type Logger, MONOTONIC_CLOCK } from '@waypost/platform';
import { waitOrAbort } from '@waypost/streams/admin';
import { APPLICATION, type PublicApiConfig } from '../config.js';
import { connectDatabase } from './connect-database.js';

const POOL_SIZE = 10;
/**
 * In each of the two pools. However many fleets have all that they may, three connections are left to the others, and
 * to the lookups of keys, which belong to no fleet. As much may wait as one key may send at once.
 */
const FLEET_TURNS = { atATime: 4, inAll: POOL_SIZE - 3, waiting: 2_000, waitMs: 5_000 };
/** No page needs this long; a runaway query must not hold a connection for ever. */
const STATEMENT_TIMEOUT_MS = 10_000;

const PROVIDERS = [
  {
    provide: DatabaseRetry,
    inject: [LOGGER, MONOTONIC_CLOCK],
    useFactory: (logger: Logger, monotonicMs: () => number) =>
      new DatabaseRetry({ logger, monotonicMs, wait: waitOrAbort }),
  },
  {
    provide: DeliveryHistory,
    inject: [PageSource],
    useFactory: (pages: PageSource) => createDeliveryHistory({ pages }),
  },
  {
    provide: DeliveryFigures,
    inject: [PageSource],
    useFactory: (pages: PageSource) => createDeliveryFigures({ pages }),
  },
  {
    provide: SubscriptionActivities,
    inject: [PageSource],
    useFactory: (pages: PageSource) => createSubscriptionActivities({ pages }),
  },
  {
    provide: ResendableDeliveries,
    inject: [PageSource],
    useFactory: (pages: PageSource) => createResendableDeliveries({ pages }),
  },
  { provide: PathHistory, inject: [PageSource], useFactory: (pages: PageSource) => createPathHistory({ pages }) },
];

const postgres = DatabaseModule.forRootAsync({ inject: [CONFIG, LOGGER], useFactory: databaseOptions });

/** The stores and histories of the API on its database, which is connected before the first request. */
@Module({
  imports: [postgres, ManagementStoreModule],
  providers: PROVIDERS,
  exports: [postgres, ManagementStoreModule, ...PROVIDERS],
})
export class ApiDatabaseModule {}

function databaseOptions(
  { database, databaseRead }: Pick<PublicApiConfig, 'database' | 'databaseRead'>,
  logger: Logger,
): DatabaseModuleOptions {
  return {
    url: database.url,
    ...(databaseRead.readUrl !== undefined && { readUrl: databaseRead.readUrl }),
    applicationName: APPLICATION,
    poolSize: POOL_SIZE,
    fleetTurns: FLEET_TURNS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    // A process that is stopped in the middle of a change must not block others.
    idleInTransactionTimeoutMs: STATEMENT_TIMEOUT_MS,
    onIdleConnectionLost: (error) => logger.warn('database_connection_lost', { error }),
    connect: connectDatabase,
  };
}
