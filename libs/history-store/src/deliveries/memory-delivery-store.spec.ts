import { NOW } from './attempt-samples.contract.js';
import { describeHistoryStore } from './delivery-store.contract.js';
import { createMemoryDeliveryStore } from './memory-delivery-store.js';

const open = () =>
  Promise.resolve({ ...createMemoryDeliveryStore({ now: () => NOW }), close: () => Promise.resolve() });

describeHistoryStore('memory', open, 200);
