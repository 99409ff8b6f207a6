import { runApp } from '@waypost/platform';
import { APPLICATION, readConfig } from './config.js';
import { TelemetryProcessorModule } from './telemetry-processor.module.js';

await runApp({ name: APPLICATION, config: readConfig, module: TelemetryProcessorModule });
