import type { Scene } from './scene.js';

/** A fault on a stack that works, and the alerts that it makes fire. */
export interface Provocation {
  /** Those that have to fire; others may fire beside them. */
  readonly alerts: readonly string[];
  /** What is broken, and what the runbooks have people do about it besides their commands. */
  readonly by: string;
  readonly endedBy: string;
  /** Some compare with a minute or more, which nothing shortens. */
  readonly firesWithinMs?: number;
  /** Returns what ends the fault. */
  readonly provoke: (scene: Scene) => Promise<() => unknown>;
}
