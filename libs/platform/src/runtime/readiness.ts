import type { Stall } from '@waypost/streams';
import type { PartStatus } from '../lifecycle/lifecycle.js';
import { RunningTasks } from './running-tasks.js';

/** What an application needs before it counts as ready. Providers add their checks while they start. */
export class Readiness {
  private readonly checks: { readonly name: string; readonly isReady: () => boolean }[] = [];
  private readonly stallSources: (() => readonly Stall[])[] = [];
  readonly tasks = new RunningTasks();
  add(name: string, isReady: () => boolean): void {
    this.checks.push({ name, isReady });
  }

  ready(): boolean {
    return this.checks.every(({ isReady }) => isReady());
  }

  status(): PartStatus[] {
    return this.checks.map(({ name, isReady }) => {
      const ready = isReady();
      return { name, state: ready ? 'started' : 'starting', ready };
    });
  }

  addStalls(source: () => readonly Stall[]): void {
    this.stallSources.push(source);
  }

  /** Stalled work, and since when: another process or a broker holds it up, so a restart would not help. */
  stalls(): Stall[] {
    return this.stallSources.flatMap((source) => source());
  }
}
