import { type DynamicModule, Inject, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { type AvroCodecs, createAvroCodecs, createSchemaRegistry, type SchemaRegistryPort } from '@waypost/contracts';
import { settleOrAbort } from '@waypost/streams/admin';
import type { RegistryConfig } from '../config/service-config.js';
import { CLOCK, CONFIG, STOPPING } from '../runtime/runtime.module.js';

/** SchemaRegistryPort */
export const SCHEMA_REGISTRY = Symbol('SCHEMA_REGISTRY');
/** AvroCodecs */
export const CODECS = Symbol('CODECS');
const WRITTEN = Symbol('WRITTEN');

/** Waits at the start for the schemas of the topics that the application writes. */
@Injectable()
class WrittenSchemas implements OnModuleInit {
  constructor(
    @Inject(CODECS) private readonly codecs: AvroCodecs,
    @Inject(WRITTEN) private readonly written: readonly (keyof AvroCodecs)[],
    @Inject(STOPPING) private readonly stopping: AbortSignal,
  ) {}

  async onModuleInit(): Promise<void> {
    const prepared = Promise.all(this.written.map((topic) => this.codecs[topic].prepare()));
    await settleOrAbort(prepared, this.stopping);
  }
}

/** The codecs of all topics, for every module of the application, on one schema registry. */
@Module({})
export class ContractsModule {
  /** @param written the topics that the application writes: the start waits for their schemas */
  static forRoot(written: readonly (keyof AvroCodecs)[] = []): DynamicModule {
    return {
      module: ContractsModule,
      global: true,
      providers: [
        {
          provide: SCHEMA_REGISTRY,
          inject: [CONFIG],
          useFactory: ({ registry }: { readonly registry: RegistryConfig }) => createSchemaRegistry(registry),
        },
        {
          provide: CODECS,
          inject: [SCHEMA_REGISTRY, CLOCK],
          useFactory: (registry: SchemaRegistryPort, now: () => number) => createAvroCodecs({ registry, now }),
        },
        { provide: WRITTEN, useValue: written },
        WrittenSchemas,
      ],
      exports: [SCHEMA_REGISTRY, CODECS],
    };
  }
}
