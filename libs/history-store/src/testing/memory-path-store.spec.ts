import { NOW } from '../paths/path-samples.contract.js';
import { describePathStore } from '../paths/path-store.contract.js';
import { createMemoryPathStore } from './memory-path-store.js';

function open() {
  return Promise.resolve({ ...createMemoryPathStore({ now: () => NOW }), close: () => Promise.resolve() });
}

describePathStore('memory', open, 60);
