import { runApp } from '@waypost/platform';
import { webhookDeliveryApp } from './webhook-delivery.app.js';

await runApp(webhookDeliveryApp);
