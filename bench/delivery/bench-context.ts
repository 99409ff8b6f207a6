import type { StackRun } from '../shared/run-benchmark.js';
import type { BenchFlags } from './bench-flags.js';
import type { Receivers } from './stack/receivers.js';
import type { Subscribers } from './stack/subscribers.js';
import type { System } from './stack/system.js';
import type { Harness } from './workers/harness.js';

/** What every measurement uses. */
export interface BenchContext extends StackRun<BenchFlags> {
  readonly receivers: Receivers;
  readonly subscribers: Subscribers;
  readonly system: System;
  readonly harness: Harness;
}
