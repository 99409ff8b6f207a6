import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { AttemptLogModule } from './attempt-log.module.js';
import { AttemptStreamController } from './attempt-stream.controller.js';
import { AttemptStreams } from './attempt-stream.service.js';

@Module({
  imports: [AttemptLogModule, AuthModule],
  controllers: [AttemptStreamController],
  providers: [AttemptStreams],
})
export class AttemptStreamModule {}
