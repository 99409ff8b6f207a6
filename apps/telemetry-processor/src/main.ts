import { runApp } from '@waypost/platform';
import { telemetryProcessorApp } from './telemetry-processor.app.js';

await runApp(telemetryProcessorApp);
