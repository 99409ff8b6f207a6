import { runApp } from '@waypost/platform';
import { APPLICATION, readConfig } from './config.js';
import { HistoryProjectorModule } from './history-projector.module.js';

await runApp({ name: APPLICATION, config: readConfig, module: HistoryProjectorModule });
