import { NOW } from '../deliveries/attempt-samples.contract.js';
import { describeDeliveryStore } from '../deliveries/delivery-store.contract.js';
import { createMemoryDeliveryStore } from './memory-delivery-store.js';

function open() {
  return Promise.resolve({ ...createMemoryDeliveryStore({ now: () => NOW }), close: () => Promise.resolve() });
}

describeDeliveryStore('memory', open, 200);
