import { runApp } from '@waypost/platform';
import { publicApi } from './public-api.js';

await runApp(publicApi);
