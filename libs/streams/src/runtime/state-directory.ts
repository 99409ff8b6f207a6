import type { CommittedOffset } from '../backend/backend.js';
import { StreamsError } from '../errors.js';
import { partitionName, type TopicPartition } from '../record.js';
import type { StateStore, StoreDefinition } from '../state/state-store.js';
import { sourcesOf, type Topology } from '../topology/topology.js';
import { ChangelogStore } from './changelog-store.js';
import type { StateOptions } from './store-checkpoints.js';
import type { TaskCommit } from './streams-producer.js';

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

  private written(): ChangelogStore[] {
    return this.stores.filter(({ isWritten }) => isWritten);
  }

  /** Entries for the metadata of a commit. Older versions know the names only. */
  entries(): string[] {
    const written = this.written();
    return [...written.map(({ name }) => name), ...written.flatMap(({ mark }) => mark ?? [])];
  }

  /**
   * Call after open(), with the position of the partition, if it has one.
   * @throws {StreamsError} POSITION_LOST: from the start, the log would be applied twice. STATE_LOST, STATE_PARTLY_LOST
   */
  refuseLost(committed: CommittedOffset | null, topology: Topology, input: TopicPartition): void {
    const isOneSource = sourcesOf(topology).length === 1;
    if (committed) this.refuseLostState(committed.metadata, input, isOneSource);
    const changed = this.stores.find(({ hasHistory }) => hasHistory);
    if (committed || !changed) return;
    throw new StreamsError(
      'POSITION_LOST',
      `The group ${topology.applicationId} has no committed offset for ${partitionName(input)}, although ${partitionName(changed.changelog)} has state of it: the offset has expired or was deleted. Seek to ${isOneSource ? 'the offset where it continues, to ' : ''}earliest (which repeats outputs) or to latest (which skips records).`,
    );
  }

  /** A position without the state before it. Its metadata names the stores that had any, and their topics. */
  private refuseLostState(metadata: string, input: TopicPartition, isOneSource: boolean): void {
    const lost = this.stores.find((store) => store.isLost(metadata));
    if (!lost) return;
    const others = this.written().map(({ name }) => name);
    const state = lost.isWritten ? 'another topic by now' : 'empty';
    const what = `The changelog ${partitionName(lost.changelog)} of the store ${lost.name} is ${state}, although the task of ${partitionName(input)} has written to it: it was deleted.`;
    const goOn = `seek to ${isOneSource ? 'the offset where the partition continues' : 'latest, which skips records'}.`;
    if (others.length === 0) {
      const fix = `To rebuild the state from the log and repeat outputs, seek to earliest. To continue without it, ${goOn}`;
      throw new StreamsError('STATE_LOST', `${what} ${fix}`);
    }
    const fix = `${others.join(' and ')} still has state, to which the log would be applied twice. To rebuild everything, delete that changelog as well, retry, then seek to earliest. To continue without ${lost.name}, ${goOn}`;
    throw new StreamsError('STATE_PARTLY_LOST', `${what} ${fix}`);
  }

  get remaining(): number {
    return this.stores.reduce((sum, { remaining }) => sum + remaining, 0);
  }

  committed(outcome: TaskCommit): void {
    for (const store of this.stores) store.committed(outcome);
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
