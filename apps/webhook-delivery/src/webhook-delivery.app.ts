import type { AppDefinition } from '@waypost/platform';
import { readConfig, type WebhookDeliveryConfig } from './config.js';
import { WebhookDeliveryModule } from './webhook-delivery.module.js';

export const webhookDeliveryApp: AppDefinition<WebhookDeliveryConfig> = {
  name: 'webhook-delivery',
  config: readConfig,
  module: () => WebhookDeliveryModule,
};
