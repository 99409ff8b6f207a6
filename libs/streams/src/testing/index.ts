export type { StoreUnderTest } from './checked-store.js';
export { createMemoryBackend, type MemoryBackendOptions, type MemoryLogs } from './memory-backend.js';
export { storeContract, type StoreRule } from './store-contract.js';
export {
  createTopologyTestDriver,
  type PipedRecord,
  type TestDriverOptions,
  type TopologyTestDriver,
} from './topology-test-driver.js';
