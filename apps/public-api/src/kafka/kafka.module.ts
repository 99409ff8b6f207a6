import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type AvroCodecs, createAvroCodecs, createSchemaRegistry, type SchemaRegistryPort } from '@waypost/contracts';
import { StreamsModule } from '@waypost/platform';
import { CLOCK, type Clock } from '../runtime/runtime.module.js';

export const AVRO_CODECS = Symbol('avro codecs');
const SCHEMA_REGISTRY = Symbol('schema registry');

export interface KafkaOptions {
  readonly registry: Parameters<typeof createSchemaRegistry>[0];
}

/** Kafka and the codecs of its records. Nothing connects before it is used: HTTP answers while Kafka is unavailable. */
@Global()
@Module({})
export class KafkaModule {
  static forRoot({ registry }: KafkaOptions): DynamicModule {
    const codecs = {
      provide: AVRO_CODECS,
      inject: [SCHEMA_REGISTRY, CLOCK],
      useFactory: (port: SchemaRegistryPort, now: Clock): AvroCodecs => createAvroCodecs({ registry: port, now }),
    };
    return {
      module: KafkaModule,
      imports: [StreamsModule],
      providers: [{ provide: SCHEMA_REGISTRY, useFactory: () => createSchemaRegistry(registry) }, codecs],
      exports: [codecs, StreamsModule],
    };
  }
}
