import { runApp } from '@waypost/platform';
import { APP_NAME, readConfig } from './config.js';
import { configureHttp } from './configure-http.js';
import { PublicApiModule } from './public-api.module.js';

await runApp({
  name: APP_NAME,
  config: readConfig,
  module: PublicApiModule,
  http: ({ config }) => ({ port: config.http.port, configure: configureHttp }),
});
