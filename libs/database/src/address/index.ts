export { databaseAddress, databaseUrlProblems } from './database-address.js';
