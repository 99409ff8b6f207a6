export { MemoryRuntime } from './memory-runtime.js';
