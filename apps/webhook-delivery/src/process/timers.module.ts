import { Module } from '@nestjs/common';
import { nodeTimers } from './timers.js';

export const TIMERS = Symbol('TIMERS');

/** Apart from ProcessModule, for modules that need nothing else of the process. */
@Module({
  providers: [{ provide: TIMERS, useValue: nodeTimers }],
  exports: [TIMERS],
})
export class TimersModule {}
