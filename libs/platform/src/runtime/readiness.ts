import type { PartStatus } from '../lifecycle/lifecycle.js';

/** What an application must have before it counts as ready. Providers add their checks while they start. */
export class Readiness {
  private readonly checks: { readonly name: string; readonly isReady: () => boolean }[] = [];

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
}
