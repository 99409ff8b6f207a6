export { stopStack as default } from './start.mjs';
