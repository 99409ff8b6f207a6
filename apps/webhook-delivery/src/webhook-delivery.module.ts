import { Module } from '@nestjs/common';

/** No HTTP face of its own: fan-out and sender are started as parts of the application. */
@Module({})
export class WebhookDeliveryModule {}
