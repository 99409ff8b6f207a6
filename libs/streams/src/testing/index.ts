export { createMemoryBackend, type MemoryBackendOptions, type MemoryLogs } from '../backend/memory/memory-backend.js';
export {
  createTopologyTestDriver,
  type PipedRecord,
  type TestDriverOptions,
  type TopologyTestDriver,
} from './topology-test-driver.js';
