import { runApp } from '@waypost/platform';
import { readConfig } from './config.js';
import { WebhookDeliveryModule } from './webhook-delivery.module.js';

await runApp({ name: 'webhook-delivery', config: readConfig, module: WebhookDeliveryModule });
