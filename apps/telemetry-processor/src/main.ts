import { runApp } from '@waypost/platform';
import { readConfig } from './config.js';
import { TelemetryProcessorModule } from './telemetry-processor.module.js';

await runApp({ name: 'telemetry-processor', config: readConfig, module: TelemetryProcessorModule });
