/** The contract test of the API: see test/contract/README.md. It runs from its sources, on the built application. */
import './prepare.mjs';
import { runFromSources } from './run-from-sources.mjs';

runFromSources('test/contract/main.ts');
