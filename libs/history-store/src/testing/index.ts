export { createMemoryDeliveryStore, type MemoryDeliveryStore } from '../deliveries/memory-delivery-store.js';
export { createMemoryPathStore, type MemoryPathStore } from '../paths/memory-path-store.js';
