import type { Admin } from 'kafkajs';
import type { StackRun } from '../shared/run-benchmark.js';
import type { BenchFlags } from './bench-flags.js';
import type { PeerPrograms } from './sides/peer-program.js';
import type { BenchGroups } from './stack/bench-groups.js';
import type { BenchTopics } from './stack/bench-topics.js';

/** What every measurement uses. */
export interface BenchContext extends StackRun<BenchFlags> {
  readonly topics: BenchTopics;
  readonly groups: BenchGroups;
  readonly admin: Admin;
  readonly programs: PeerPrograms;
  /** The program of Java that runs the peer. */
  readonly java: string;
  /** A number that was not given before, not even by an earlier run. */
  readonly nextNumber: () => number;
}
