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
  /** The environment of the processes, without settings that would change a part by accident. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What a failed or interrupted start has to undo. */
  readonly started: ManagedProcess[];
  readonly onReplaced: () => void;
  /** Aborted when the start fails or is interrupted. */
  readonly signal?: AbortSignal | undefined;
}

/** Call for every process before it starts. @throws the reason of the signal: a later process would be left running. */
export function register({ signal, started }: PartContext, part: ManagedProcess): void {
  signal?.throwIfAborted();
  started.push(part);
}

export interface EmbeddedPart<Address> {
  readonly address: Address;
  readonly process: ManagedProcess;
}
