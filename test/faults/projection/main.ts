/*
 * The fault suite of history-projector: `npm run test:projection-integrity -- --seed 7 --minutes 5`. Says what it does on
 * standard error and its verdict as one line of JSON on standard output; ends with 1 when anything was broken.
 */
import { runFaultSuite } from '../../support/fault-suite-program.js';
import { readOptions } from './projection-integrity-config.js';
import { runProjectionSuite } from './run/projection-suite.js';

await runFaultSuite({
  name: 'projection-integrity',
  readOptions,
  run: runProjectionSuite,
  isIntact: ({ projectionIntegrity }) => projectionIntegrity === 'intact',
});
