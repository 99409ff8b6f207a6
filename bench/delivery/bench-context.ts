import type { StackReporter } from '../../tools/dev-stack/index.js';
import type { DeliveryStack } from '../shared/stack/delivery-stack.js';
import type { BenchFlags } from './bench-flags.js';
import type { Subscribers } from './stack/subscribers.js';
import type { System } from './stack/system.js';
import type { Harness } from './workers/harness.js';

/** What every measurement uses. */
export interface BenchContext {
  readonly flags: BenchFlags;
  readonly stack: DeliveryStack;
  readonly subscribers: Subscribers;
  readonly system: System;
  readonly harness: Harness;
  readonly reporter: StackReporter;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly now: () => number;
}
