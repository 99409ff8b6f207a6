import { Module } from '@nestjs/common';
import { CONFIG, createInstances } from '@waypost/platform';
import type { PublicApiConfig } from '../config.js';
import { TasksController } from './tasks.controller.js';
import { INSTANCES, TasksService } from './tasks.service.js';

@Module({
  controllers: [TasksController],
  providers: [
    TasksService,
    {
      provide: INSTANCES,
      inject: [CONFIG],
      useFactory: ({ http: { adminUrls } }: Pick<PublicApiConfig, 'http'>) =>
        adminUrls.length === 0 ? null : createInstances(adminUrls),
    },
  ],
})
export class TasksModule {}
