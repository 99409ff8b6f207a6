import { runApp } from '@waypost/platform';
import { APPLICATION, readConfig } from './config.js';
import { configureHttp } from './http-pipeline.js';
import { PublicApiModule } from './public-api.module.js';

await runApp({
  name: APPLICATION,
  config: readConfig,
  module: PublicApiModule,
  http: ({ config: { http } }) => ({ port: http.port, host: http.host, configure: configureHttp }),
  drainMs: ({ http }) => http.drainMs,
});
