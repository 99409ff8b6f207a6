import type { DataDir } from './data-dir/data-dir.js';
import type { Guardian } from './processes/guardian.js';
import type { ManagedProcess } from './processes/managed-process.js';
import type { StackReporter } from './stack-reporter.js';

/** What every part of the stack is started with. */
export interface PartContext {
  readonly dataDir: DataDir;
  readonly cacheDir: string;
  readonly java: string;
  readonly guardian: Guardian;
  readonly reporter: StackReporter;
  /** Of the processes; it holds no settings that would change a part by accident. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Processes register here before they start, so that a failed or interrupted start can be undone. */
  readonly started: ManagedProcess[];
  readonly onReplaced: () => void;
}

export interface EmbeddedPart<Address> {
  readonly address: Address;
  readonly process: ManagedProcess;
}
