import { runApp } from '@waypost/platform';
import { historyProjectorApp } from './history-projector.app.js';

await runApp(historyProjectorApp);
