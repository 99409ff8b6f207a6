export { isConnectionLoss, isLockTimeout } from './connection-loss.js';
export { createDataSource, type DataSourceSettings } from './data-source.js';
export { databaseAddress, type DatabaseAddress } from './database-address.js';
export { databaseRefusal } from './database-refusal.js';
export { createPageSource, type PageSource, type PreparedQuery } from './page-source.js';
export { poolUsageOf, type PoolUsage } from './pool-usage.js';
export { runMigrations } from './run-migrations.js';
export { FOREIGN_KEY_VIOLATION, sqlState, UNIQUE_VIOLATION } from './sql-state.js';
export { storableText } from './storable-text.js';
