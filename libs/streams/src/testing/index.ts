export { createMemoryBackend, type MemoryBackendOptions, type MemoryLogs } from './memory-backend.js';
export {
  createTopologyTestDriver,
  type PipedRecord,
  type TestDriverOptions,
  type TopologyTestDriver,
} from './topology-test-driver.js';
