export { createMemoryDeliveryStore, type MemoryDeliveryStore } from './memory-delivery-store.js';
export { createMemoryPathStore, type MemoryPathStore } from './memory-path-store.js';
