/** The fault suite of webhook-delivery: see test/faults/delivery/README.md. It runs on the built application. */
import './prepare.mjs';
import { runFromSources } from './run-from-sources.mjs';

runFromSources('test/faults/delivery/main.ts');
