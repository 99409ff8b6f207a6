import type { Admin } from 'kafkajs';
import type { StackReporter } from '../../tools/dev-stack/index.js';
import type { PeerPrograms } from './sides/peer-program.js';
import type { BenchGroups } from './stack/bench-groups.js';
import type { BenchStack } from './stack/bench-stack.js';
import type { BenchTopics } from './stack/bench-topics.js';

/** What every measurement uses. */
export interface BenchContext {
  readonly stack: BenchStack;
  readonly topics: BenchTopics;
  readonly groups: BenchGroups;
  readonly admin: Admin;
  readonly programs: PeerPrograms;
  /** Entry file of telemetry-processor. */
  readonly program: string;
  readonly nodeFlags: readonly string[];
  /** What every process under measurement gets of the environment of this one. */
  readonly environment: Readonly<Record<string, string>>;
  readonly reporter: StackReporter;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** A number that was not given before, not even by a run before this one. */
  readonly nextNumber: () => number;
}
