/** The fault suite: see test/faults/processor/README.md. It runs from its sources, on the built applications. */
import './prepare.mjs';
import { runFromSources } from './run-from-sources.mjs';

runFromSources('test/faults/processor/main.ts');
