import type { BaseOffsets } from '../backend/backend.js';
import type { TopicPartition } from '../record.js';
import type { StateStore, StoreDefinition } from '../state/state-store.js';
import { ChangelogStore } from './changelog-store.js';
import type { StateOptions } from './store-checkpoints.js';

/** The stores of one partition. They outlive its tasks while the partition is assigned to this process. */
export class StateManager {
  readonly byName: ReadonlyMap<string, StateStore>;

  /** @param onLeft called when no task of this process will use the stores again */
  constructor(
    private readonly stores: readonly ChangelogStore[],
    private readonly onLeft: (how: 'released' | 'abandoned') => void = () => undefined,
  ) {
    this.byName = new Map(stores.map(({ name, store }) => [name, store]));
  }

  async open(closed: AbortSignal): Promise<void> {
    await Promise.all(this.stores.map((store) => store.open(closed)));
  }

  /** A changelog with changes; null: the partition has never changed its stores. */
  usedChangelog(): TopicPartition | null {
    return this.stores.find(({ hasHistory }) => hasHistory)?.changelog ?? null;
  }

  written(): string[] {
    return this.stores.filter(({ isWritten }) => isWritten).map(({ name }) => name);
  }

  /** Entries for the metadata of a commit. Older versions know the names only. */
  entries(): string[] {
    const marks = this.stores.flatMap(({ isWritten, mark }) => (isWritten ? (mark ?? []) : []));
    return [...this.written(), ...marks];
  }

  /** The first store whose changelog lacks the state that a commit follows. */
  lost(metadata: string): Pick<ChangelogStore, 'name' | 'changelog'> | undefined {
    return this.stores.find((store) => store.isLost(metadata));
  }

  get remaining(): number {
    return this.stores.reduce((sum, { remaining }) => sum + remaining, 0);
  }

  committed(baseOffsets: BaseOffsets): void {
    for (const store of this.stores) store.committed(baseOffsets);
  }

  between(): void {
    for (const store of this.stores) store.between();
  }

  /** Call when the task has ended: the stores return to the last commit that is known to have happened. */
  async suspend(): Promise<void> {
    await Promise.all(this.stores.map((store) => store.suspend()));
  }

  /** Call when the partition is revoked or the application stops: its next owner starts from the changelog. */
  release(): void {
    this.onLeft('released');
  }

  /** Abandoned work may still write into the stores: no other task uses them, and they get no checkpoint. */
  abandon(): void {
    this.onLeft('abandoned');
  }

  async retire(): Promise<void> {
    await Promise.all(this.stores.map((store) => store.retire()));
  }
}

/** The stores of all partitions that are assigned to this process. */
export class StateDirectory {
  private readonly kept = new Map<number, StateManager>();
  private readonly retired = new Set<StateManager>();
  private stopping = false;

  constructor(private readonly options: StateOptions) {}

  byName(name: string): StateStore[] {
    return [...this.kept.values()].flatMap((stores) => stores.byName.get(name) ?? []);
  }

  remaining(): number {
    return [...this.kept.values()].reduce((sum, { remaining }) => sum + remaining, 0);
  }

  of(partition: number): StateManager {
    let stores = this.kept.get(partition);
    if (!stores) this.kept.set(partition, (stores = this.create(partition)));
    return stores;
  }

  stop(): void {
    this.stopping = true;
  }

  /** Call after the member has left the group, so that the last checkpoints delay no other member. */
  async close(): Promise<void> {
    for (const stores of this.retired) await stores.retire();
    this.retired.clear();
  }

  private create(partition: number): StateManager {
    const definitions = Object.entries<StoreDefinition<unknown>>(this.options.topology.stores ?? {});
    const stores = definitions.map(
      ([name, definition]) => new ChangelogStore(name, definition, partition, this.options),
    );
    const manager = new StateManager(stores, (how) => {
      const isKept = this.kept.get(partition) === manager;
      if (isKept) this.kept.delete(partition);
      if (how === 'abandoned') this.retired.delete(manager);
      else if (isKept && this.stopping) this.retired.add(manager);
    });
    return manager;
  }
}
