/** Lets jest-light-runner import specs as they are, in its threads too: `node --import ./test/support/jest-loader.mjs node_modules/.bin/jest`. */
import { register } from 'node:module';

register('./jest-hooks.mjs', import.meta.url);
process.setSourceMapsEnabled(true);
