export { createDataSource, type PoolUsage, poolUsageOf } from './data-source.js';
export { databaseAddress } from './address/database-address.js';
export {
  databaseRefusal,
  DEADLOCK_DETECTED,
  isConnectionLoss,
  isLockTimeout,
  LOCK_NOT_AVAILABLE,
  sqlState,
  storableText,
  UNIQUE_VIOLATION,
} from './database-errors.js';
export { API_ROLE, grantDay, type LoginPurpose, missingTableRights, PROJECTOR_ROLE } from './database-roles.js';
export { DatabaseRetry } from './database-retry.js';
export { DatabaseModule, type DatabaseModuleOptions } from './database.module.js';
export { ALL_FLEETS, inAllFleets, inFleet } from './fleet-scope.js';
export { FleetBusyError } from './fleet-turns.js';
export { compareSchema, runMigrations, type SchemaComparison } from './migrate.js';
export { createPageSource, PageSource, type PreparedQuery } from './page-source.js';
