import { Inject, Module, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { AvroCodecs } from '@waypost/contracts';
import { CODECS, KafkaModule, LOGGER, ON_FATAL, Quarantine, STOPPING, STREAMS_BACKEND } from '@waypost/platform';
import type { StreamsBackend, StreamsLogger } from '@waypost/streams';
import { settleOrAbort } from '@waypost/streams/admin';
import { ProcessModule } from '../process/process.module.js';
import { createSubscriptionDirectory, SubscriptionDirectory } from './subscription-directory.js';

function createDirectory(
  backend: StreamsBackend,
  codecs: AvroCodecs,
  logger: StreamsLogger,
  onFatal: (error: Error) => void,
  quarantine: Quarantine,
): SubscriptionDirectory {
  return createSubscriptionDirectory({ backend, codecs, logger, onFatal, quarantine });
}

/** The directory is read to its end before the consumers start, and followed until all of them have stopped. */
@Module({
  imports: [ProcessModule, KafkaModule],
  providers: [
    {
      provide: SubscriptionDirectory,
      inject: [STREAMS_BACKEND, CODECS, LOGGER, ON_FATAL, Quarantine],
      useFactory: createDirectory,
    },
  ],
  exports: [SubscriptionDirectory],
})
export class SubscriptionsModule implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    private readonly directory: SubscriptionDirectory,
    @Inject(STOPPING) private readonly stopping: AbortSignal,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await settleOrAbort(this.directory.start(), this.stopping);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.directory.stop();
  }
}
