import { runApp } from '@waypost/platform';
import { APPLICATION, readConfig } from './config.js';
import { configureHttp } from './http-pipeline.js';
import { PublicApiModule } from './public-api.module.js';

await runApp({
  name: APPLICATION,
  config: readConfig,
  module: PublicApiModule,
  http: ({ config }) => ({ port: config.http.port, configure: configureHttp }),
  drainMs: ({ http }) => http.drainMs,
});
