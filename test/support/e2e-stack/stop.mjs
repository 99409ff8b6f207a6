export { stop as default } from './start.mjs';
