import { Module } from '@nestjs/common';
import { CONFIG, createInstances } from '@waypost/platform';
import type { PublicApiConfig } from '../config.js';
import { OperationsController } from './operations.controller.js';
import { INSTANCES, OperationsService } from './operations.service.js';

@Module({
  controllers: [OperationsController],
  providers: [
    OperationsService,
    {
      provide: INSTANCES,
      inject: [CONFIG],
      useFactory: ({ http: { adminUrls } }: Pick<PublicApiConfig, 'http'>) =>
        adminUrls.length === 0 ? null : createInstances(adminUrls),
    },
  ],
})
export class OperationsModule {}
