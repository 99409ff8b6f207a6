import type { ReplayProgress } from '@waypost/domain';

/** The newest progress of each replay of a partition, indexed by subscription too: a partition may have very many. */
export class KnownProgress {
  private readonly byReplay = new Map<string, ReplayProgress>();
  private readonly bySubscription = new Map<string, Map<string, ReplayProgress>>();

  get(replayId: string): ReplayProgress | null {
    return this.byReplay.get(replayId) ?? null;
  }

  set(progress: ReplayProgress): void {
    const { replayId, subscriptionId } = progress;
    this.byReplay.set(replayId, progress);
    const own = this.bySubscription.get(subscriptionId) ?? new Map<string, ReplayProgress>();
    this.bySubscription.set(subscriptionId, own.set(replayId, progress));
  }

  delete(replayId: string): void {
    const known = this.byReplay.get(replayId);
    if (known === undefined) return;
    this.byReplay.delete(replayId);
    const own = this.bySubscription.get(known.subscriptionId);
    own?.delete(replayId);
    if (own?.size === 0) this.bySubscription.delete(known.subscriptionId);
  }

  replayIds(): string[] {
    return [...this.byReplay.keys()];
  }

  /** When the first other replay of the subscription began; null: there was none. */
  firstStartOfOthers({ replayId, subscriptionId }: Pick<ReplayProgress, 'replayId' | 'subscriptionId'>): number | null {
    let first: number | null = null;
    for (const other of this.bySubscription.get(subscriptionId)?.values() ?? [])
      if (other.replayId !== replayId) first = Math.min(first ?? Infinity, other.startedAt);
    return first;
  }
}
