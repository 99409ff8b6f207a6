import { Module } from '@nestjs/common';
import { CONFIG } from '@waypost/platform';
import { AuthModule } from '../auth/auth.module.js';
import type { PublicApiConfig } from '../config.js';
import { AttemptLogModule } from './attempt-log.module.js';
import { AttemptStreamController } from './attempt-stream.controller.js';
import { AttemptStreamService } from './attempt-stream.service.js';
import { createStreamIds, STREAM_IDS } from './stream-ids.js';

const streamIds = {
  provide: STREAM_IDS,
  inject: [CONFIG],
  useFactory: ({ pageTokenKeys }: Pick<PublicApiConfig, 'pageTokenKeys'>) => createStreamIds(pageTokenKeys),
};

@Module({
  imports: [AttemptLogModule, AuthModule],
  controllers: [AttemptStreamController],
  providers: [streamIds, AttemptStreamService],
})
export class AttemptStreamModule {}
