/**
 * Lets Node run the project's TypeScript as it is: `node --import ./test/support/typescript-loader.mjs tool.ts`.
 * Tests use it for processes that they start and kill, so that they need no build and test what is on disk.
 */
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
