import { createMemoryPathStore } from './memory-path-store.js';
import { NOW } from './path-samples.contract.js';
import { describePathStore } from './path-store.contract.js';

function open() {
  return Promise.resolve({ ...createMemoryPathStore({ now: () => NOW }), close: () => Promise.resolve() });
}

describePathStore('memory', open, 60);
