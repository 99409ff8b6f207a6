import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DatabaseRetry } from '@waypost/database';
import { createProjectedTopics } from '@waypost/history-store';
import { LOGGER, type Logger, MONOTONIC_CLOCK, ON_FATAL, STREAMS_BACKEND } from '@waypost/platform';
import type { StreamsBackend, TaskContext } from '@waypost/streams';
import { waitOrAbort } from '@waypost/streams/admin';
import type { ProjectionTaskTools } from './projection.task.js';

/** On the database and the log of the process. */
@Injectable()
export class ProjectionTools implements ProjectionTaskTools {
  readonly wait = waitOrAbort;

  constructor(
    readonly database: DatabaseRetry,
    @Inject(LOGGER) readonly logger: Logger,
    @Inject(MONOTONIC_CLOCK) readonly monotonicMs: () => number,
    @Inject(ON_FATAL) readonly onFatal: (error: Error) => void,
    @Inject(STREAMS_BACKEND) private readonly backend: StreamsBackend,
    private readonly dataSource: DataSource,
  ) {}

  async logRange(of: TaskContext): Promise<{ readonly start: number; readonly end: number }> {
    return { start: await this.backend.startOffset(of), end: await this.backend.endOffset(of) };
  }

  async isSameTopic(topic: string): Promise<boolean> {
    const topicId = await this.backend.topicId(topic);
    // Brokers before 3.1 have no ids.
    return topicId === null || createProjectedTopics(this.dataSource).isBoundTo(topic, topicId);
  }

  partitionCount(topic: string): Promise<number | null> {
    return this.backend.partitionCount(topic);
  }
}
