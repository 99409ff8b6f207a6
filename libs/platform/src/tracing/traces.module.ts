import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import type { TracesConfig } from '../config/traces-config.js';
import { settleWithin } from '../lifecycle/lifecycle.js';
import type { Logger } from '../logging/logger.js';
import { CONFIG, LOGGER } from '../runtime/runtime.module.js';
import { openOtlpRecorder } from './otlp-span-recorder.js';
import { Traces } from './span-recorder.js';

/** Fits into the time for stop hooks. */
const FLUSH_MS = 400;

async function openTraces({ traces }: { readonly traces: TracesConfig }, logger: Logger): Promise<Traces> {
  const { url, serviceName, sampleRatio } = traces;
  return { recorder: url === undefined ? null : await openOtlpRecorder({ url, serviceName, logger }), sampleRatio };
}

@Injectable()
class SpanExport implements OnApplicationShutdown {
  constructor(private readonly traces: Traces) {}

  /** Stops after the consumers, so that their last spans are sent. */
  async onApplicationShutdown(): Promise<void> {
    const { recorder } = this.traces;
    if (recorder !== null) await settleWithin(() => recorder.close(), FLUSH_MS);
  }
}

/** Exports the spans of the application as configured. */
@Module({
  providers: [{ provide: Traces, inject: [CONFIG, LOGGER], useFactory: openTraces }, SpanExport],
  exports: [Traces],
})
export class TracesModule {}
