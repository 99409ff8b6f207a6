import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DatabaseRetry } from '@waypost/database';
import { createProjectedTopics } from '@waypost/history-store';
import { LOGGER, type Logger, MONOTONIC_CLOCK, ON_FATAL, STREAMS_BACKEND, StreamsModule } from '@waypost/platform';
import type { StreamsBackend } from '@waypost/streams';
import { waitOrAbort } from '@waypost/streams/admin';
import { ProjectorDatabaseModule } from '../database/projector-database.module.js';
import { PROJECTION_TOOLS, type ProjectionTaskTools } from './projection.task.js';

/** Provides what the projections of attempts, paths and waiting deliveries share. */
@Module({
  imports: [StreamsModule, ProjectorDatabaseModule],
  providers: [
    {
      provide: PROJECTION_TOOLS,
      inject: [DataSource, DatabaseRetry, STREAMS_BACKEND, LOGGER, MONOTONIC_CLOCK, ON_FATAL],
      useFactory: (
        dataSource: DataSource,
        database: DatabaseRetry,
        backend: StreamsBackend,
        logger: Logger,
        monotonicMs: () => number,
        onFatal: (error: Error) => void,
      ): ProjectionTaskTools => ({
        database,
        logger,
        monotonicMs,
        onFatal,
        wait: waitOrAbort,
        isSameTopic: async (topic) => {
          const topicId = await backend.topicId(topic);
          // Brokers before 3.1 have no ids.
          return topicId === null || createProjectedTopics(dataSource).isBoundTo(topic, topicId);
        },
        partitionCount: (topic) => backend.partitionCount(topic),
        logRange: async (of) => ({ start: await backend.startOffset(of), end: await backend.endOffset(of) }),
      }),
    },
  ],
  exports: [PROJECTION_TOOLS, ProjectorDatabaseModule],
})
export class ProjectionModule {}
