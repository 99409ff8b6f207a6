export { MemoryRuntime } from './memory-runtime.js';
export { NO_TRACES } from './no-traces.js';
