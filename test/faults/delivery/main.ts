/*
 * The fault suite of webhook-delivery: `npm run test:delivery-integrity -- --seed 7 --minutes 5`. Says what it does on
 * standard error and its verdict as one line of JSON on standard output; ends with 1 when anything was broken.
 */
import { runFaultSuite } from '../../support/fault-suite-program.js';
import { readOptions } from './delivery-integrity-config.js';
import { runDeliverySuite } from './run/delivery-suite.js';

await runFaultSuite({
  name: 'delivery-integrity',
  readOptions,
  run: runDeliverySuite,
  isIntact: ({ deliveryIntegrity }) => deliveryIntegrity === 'intact',
});
