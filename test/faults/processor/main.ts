/*
 * The fault suite: `npm run test:integrity -- --seed 7 --minutes 5`. Says what it does on standard error and its verdict
 * as one line of JSON on standard output; ends with 1 when anything was broken.
 */
import { runFaultSuite } from '../../support/fault-suite-program.js';
import { readOptions } from './integrity-config.js';
import { runSuite } from './run/suite.js';

await runFaultSuite({
  name: 'integrity',
  readOptions,
  run: runSuite,
  isIntact: ({ integrity }) => integrity === 'intact',
});
