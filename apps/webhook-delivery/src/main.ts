import { runApp } from '@waypost/platform';
import { APPLICATION, readConfig } from './config.js';
import { WebhookDeliveryModule } from './webhook-delivery.module.js';

await runApp({ name: APPLICATION, config: readConfig, module: WebhookDeliveryModule });
