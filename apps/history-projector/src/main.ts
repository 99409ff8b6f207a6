import { runApp } from '@waypost/platform';
import { readConfig } from './config.js';
import { HistoryProjectorModule } from './history-projector.module.js';

await runApp({ name: 'history-projector', config: readConfig, module: HistoryProjectorModule });
