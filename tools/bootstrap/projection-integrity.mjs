/** The fault suite of history-projector: see test/projection-integrity/README.md. It runs on the built application. */
import './prepare.mjs';
import { runFromSources } from './run-from-sources.mjs';

runFromSources('test/projection-integrity/main.ts');
