import { type DynamicModule, Global, Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { type AvroCodecs, createAvroCodecs, createSchemaRegistry, type SchemaRegistryPort } from '@waypost/contracts';
import { createKafkaBackend, type KafkaSettings, type StreamsBackend } from '@waypost/streams';
import { type ApiLogger, type Clock, CLOCK, LOGGER } from '../runtime/runtime.module.js';

export const STREAMS_BACKEND = Symbol('streams backend');
export const AVRO_CODECS = Symbol('avro codecs');
/** Static membership of the consumer groups; undefined: none. */
export const INSTANCE_ID = Symbol('instance id');
const SCHEMA_REGISTRY = Symbol('schema registry');

export interface KafkaOptions {
  readonly kafka: KafkaSettings;
  readonly registry: Parameters<typeof createSchemaRegistry>[0];
  readonly instanceId: string | undefined;
}

/** Closes the connections that the publisher and the consumers share, after they have stopped. */
@Injectable()
class KafkaConnection implements OnApplicationShutdown {
  constructor(@Inject(STREAMS_BACKEND) private readonly backend: StreamsBackend) {}

  async onApplicationShutdown(): Promise<void> {
    await this.backend.close();
  }
}

/** Kafka and the schema registry. Nothing connects before it is used: the API answers while both are unavailable. */
@Global()
@Module({})
export class KafkaModule {
  static forRoot({ kafka, registry, instanceId }: KafkaOptions): DynamicModule {
    const providers = [
      { provide: INSTANCE_ID, useValue: instanceId },
      { provide: SCHEMA_REGISTRY, useFactory: () => createSchemaRegistry(registry) },
      {
        provide: AVRO_CODECS,
        inject: [SCHEMA_REGISTRY, CLOCK],
        useFactory: (port: SchemaRegistryPort, now: Clock): AvroCodecs => createAvroCodecs({ registry: port, now }),
      },
      {
        provide: STREAMS_BACKEND,
        inject: [LOGGER, CLOCK],
        useFactory: (logger: ApiLogger, now: Clock) => createKafkaBackend({ kafka, logger, now }),
      },
    ];
    return { module: KafkaModule, providers: [...providers, KafkaConnection], exports: providers };
  }
}
