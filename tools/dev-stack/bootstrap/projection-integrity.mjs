/** The fault suite of history-projector: see test/faults/projection/README.md. It runs on the built application. */
import './prepare.mjs';
import { runFromSources } from './run-from-sources.mjs';

runFromSources('test/faults/projection/main.ts');
