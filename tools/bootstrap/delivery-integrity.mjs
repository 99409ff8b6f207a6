/** The fault suite of webhook-delivery: see test/delivery-integrity/README.md. It runs on the built application. */
import './prepare.mjs';
import { runFromSources } from './run-from-sources.mjs';

runFromSources('test/delivery-integrity/main.ts');
