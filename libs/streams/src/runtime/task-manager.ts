import { waitOrAbort } from '../abort.js';
import type { Assignment, Fetcher, GroupMember } from '../backend/backend.js';
import { StreamsError } from '../errors.js';
import { partitionName, type TopicPartition } from '../record.js';
import { partitionsAdded, type UsedTopic, verifyTopics } from '../topology/topics.js';
import type { PartitionTask, TaskContext } from './partition-task.js';
import { type HostOptions, TaskExecutor, type TaskStatus } from './task-executor.js';
import type { SeekTarget } from './task-input.js';

export interface MemberOptions extends HostOptions {
  readonly instanceId?: string | undefined;
  readonly sessionTimeoutMs?: number | undefined;
  /** Called at each change of the state of this process, from within the runtime: return soon, and never throw. */
  readonly onStateChange?: StateListener | undefined;
}

export interface TaskManagerOptions extends MemberOptions {
  readonly groupId: string;
  readonly topics: readonly string[];
  /** One task reads the partitions of one number of all topics, named after the first. Otherwise each has its own. */
  readonly joinsTopics?: boolean | undefined;
  readonly createTask: (context: TaskContext) => PartitionTask;
  /** Topics that must exist with as many partitions as the input. */
  readonly copartitioned?: readonly string[] | undefined;
  /** Topics with the state of the tasks, whose settings must keep it. They may also be in `copartitioned`. */
  readonly changelogs?: readonly string[] | undefined;
  /**
   * For tasks without state whose outputs do not depend on the partition count: they read added partitions. Others stop
   * then, because keys have moved away from their state.
   */
  readonly readsNewPartitions?: boolean | undefined;
}

/**
 * `rebalancing`: a task is being built, or the member has not joined. `degraded`: every task runs or is parked, and at
 * least one is parked.
 */
export type StreamsState = 'created' | 'rebalancing' | 'running' | 'degraded' | 'stopping' | 'stopped';

export type StateListener = (state: StreamsState, previous: StreamsState) => void;

/**
 * What to do with a parked partition: `retry` tries it again now, `skip` continues after the record at fault, which
 * goes to the dead-letter queue, `seek` sets a lost position. A skip with an offset is refused at any other record.
 */
export type TaskCommand = 'retry' | 'skip' | { readonly skip: number } | { readonly seek: SeekTarget };

export interface TaskManager {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Whether the member has joined, and every assigned task has restored its state or is parked. */
  ready(): boolean;
  tasks(): readonly TaskStatus[];
  /** @returns why it cannot; null: it does; undefined: the partition is not assigned to this process */
  command(partition: TopicPartition, command: TaskCommand): string | null | undefined;
  /** Changelog offsets to read before all tasks run; absent: there are no stores. */
  unrestored?(): number;
}

export function createTaskManager(options: TaskManagerOptions): TaskManager {
  return new GroupTaskManager(options, usedTopics(options));
}

function usedTopics({ groupId, topics, copartitioned = [], changelogs = [] }: TaskManagerOptions): UsedTopic[] {
  return [...new Set([...topics, ...copartitioned, ...changelogs])].map((topic) => {
    const isChangelog = changelogs.includes(topic);
    const role = `${topics.includes(topic) ? 'a source' : isChangelog ? 'a changelog' : 'a topic'} of ${groupId}`;
    const hasOwnCount = isChangelog && !copartitioned.includes(topic);
    return { topic, role, use: isChangelog ? 'changelog' : null, copartitioned: !hasOwnCount };
  });
}

const WATCH_EVERY_MS = 5_000;
const SILENT_AT_MOST_MS = 5 * 60_000;
const COUNT_EVERY_MS = 30_000;
/**
 * A partition that moves is not processed until its task is closed. Tasks close within about 8 s; the next owner fences
 * a slower one, like the task of a dead member.
 */
const LET_GO_WITHIN_MS = 10_000;

export class GroupTaskManager implements TaskManager {
  /** The outputs that get the time of the broker; known once it has started. */
  byAppendTime = new Set<string>();
  partitionCounts = new Map<string, number>();
  private readonly hosts = new Map<string, TaskExecutor>();
  private readonly closing = new Map<string, Promise<void>>();
  private member: GroupMember | null = null;
  private fetcher: Fetcher | null = null;
  private joined = false;
  private stopping = false;
  private timers: readonly NodeJS.Timeout[] = [];
  private silentChecks = 0;
  private state: StreamsState = 'created';

  /** The other topics, whose partitions go with those of the first. */
  private readonly joinedTopics: readonly string[];

  constructor(
    private readonly options: TaskManagerOptions,
    private readonly used: readonly UsedTopic[],
  ) {
    this.joinedTopics = options.joinsTopics ? options.topics.slice(1) : [];
  }

  async start(): Promise<void> {
    const { backend, groupId, topics, instanceId, sessionTimeoutMs, joinsTopics } = this.options;
    const { counts: partitionCounts, byAppendTime } = await verifyTopics(this.used, this.options);
    this.partitionCounts = partitionCounts;
    this.byAppendTime = byAppendTime;
    // Joining now would hold partitions that no task works on.
    if (this.stopping) throw new Error(`${groupId} was stopped, and cannot start again: create another.`);
    this.fetcher = backend.fetcher();
    this.member = backend.group({ groupId, topics, instanceId, joinsTopics, sessionTimeoutMs, partitionCounts });
    this.timers = [
      setInterval(() => this.watch(), WATCH_EVERY_MS).unref(),
      setInterval(() => void this.countPartitions(), COUNT_EVERY_MS).unref(),
    ];
    this.become('rebalancing');
    await this.member.join({
      assigned: (assignment) => this.take(assignment),
      failed: (error) => this.options.onFatal(error),
    });
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.become('stopping');
    for (const timer of this.timers) clearInterval(timer);
    for (const [name, host] of this.hosts) this.drop(name, host);
    await Promise.all(this.closing.values());
    await this.member?.leave();
    await this.fetcher?.close();
    this.become('stopped');
  }

  ready(): boolean {
    const isLeased = this.joined && this.member?.leaseValid() === true;
    return isLeased && [...this.hosts.values()].every(({ state }) => state !== 'starting');
  }

  tasks(): readonly TaskStatus[] {
    return [...this.hosts.values()].map(({ status }) => status);
  }

  command(partition: TopicPartition, command: TaskCommand): string | null | undefined {
    const host = this.hosts.get(partitionName(partition));
    if (command === 'retry') return host?.retry();
    if (command === 'skip') return host?.skip();
    return 'skip' in command ? host?.skip(command.skip) : host?.seek(command.seek);
  }

  private updateState(): void {
    if (this.stopping || !this.joined) return;
    const states = [...this.hosts.values()].map(({ state }) => state);
    if (states.includes('starting')) this.become('rebalancing');
    else this.become(states.includes('parked') ? 'degraded' : 'running');
  }

  private become(state: StreamsState): void {
    const previous = this.state;
    if (state === previous) return;
    this.state = state;
    this.options.onStateChange?.(state, previous);
  }

  /** A member without an accepted heartbeat for minutes is stuck or cut off: a new process has a better chance. */
  private watch(): void {
    if (this.stopping || !this.joined || this.member?.leaseValid() === true) this.silentChecks = 0;
    else this.silentChecks++;
    if (this.silentChecks * WATCH_EVERY_MS < SILENT_AT_MOST_MS) return;
    this.silentChecks = 0;
    const { groupId, onFatal } = this.options;
    onFatal(
      new StreamsError(
        'BROKER_UNAVAILABLE',
        `The group ${groupId} has accepted no heartbeat for ${String(SILENT_AT_MOST_MS / 60_000)} minutes. Look after the brokers; a restart goes on where this process was.`,
      ),
    );
  }

  /** Brokers do not announce new partitions. */
  private async countPartitions(): Promise<void> {
    const { backend, logger, topics } = this.options;
    // A task counts the partitions of these outputs when it is built.
    const byKey = this.used.flatMap(({ topic, use, copartitioned }) =>
      use === 'output' && !copartitioned ? topic : [],
    );
    for (const topic of new Set([...topics, ...byKey])) {
      const before = this.partitionCounts.get(topic) ?? 0;
      const count = await backend.partitionCount(topic, { fresh: true }).catch(() => null);
      if (count === null || count <= before || this.stopping) continue;
      this.partitionCounts.set(topic, count);
      logger.warn('partitions_added', { topic, before, partitions: count });
      if (byKey.includes(topic))
        for (const host of this.hosts.values()) host.rebuild(new Error(`The topic ${topic} has more partitions now.`));
      if (!topics.includes(topic)) continue;
      if (this.options.readsNewPartitions) this.member?.rejoin();
      else this.options.onFatal(partitionsAdded(topic, before, count));
    }
  }

  /** Resolves when the tasks of all partitions that are not in the assignment are closed. */
  private async take({ generation, partitions }: Assignment): Promise<void> {
    this.joined = true;
    const named = partitions.filter(({ topic }) => !this.joinedTopics.includes(topic));
    const assigned = new Map(named.map((partition) => [partitionName(partition), partition]));
    if (!this.stopping) this.change(generation, assigned);
    this.updateState();
    await Promise.all([...this.closing].flatMap(([name, closed]) => (assigned.has(name) ? [] : [closed])));
  }

  private change(generation: number, assigned: ReadonlyMap<string, TopicPartition>): void {
    for (const [name, host] of this.hosts) {
      if (assigned.has(name)) host.keep(generation);
      else this.drop(name, host);
    }
    for (const [name, partition] of assigned) {
      if (this.hosts.has(name)) continue;
      if (!this.options.topics.includes(partition.topic)) {
        this.options.onFatal(foreignPartition(name, this.options.groupId));
        continue;
      }
      const { member, fetcher } = this;
      if (!member || !fetcher) throw new Error('The member received an assignment before it joined.');
      const inputs = [partition, ...this.joinedTopics.map((topic) => ({ ...partition, topic }))] as const;
      const own = { inputs, generation, member, fetcher, after: this.closing.get(name) };
      const onStateChange = (): void => this.updateState();
      this.hosts.set(name, new TaskExecutor({ ...this.options, ...own, onStateChange }));
    }
  }

  private drop(name: string, host: TaskExecutor): void {
    this.hosts.delete(name);
    // A later task of the partition that is closing too has not begun: it ends as soon as this one has.
    const closed = this.closeInTime(name, host).finally(() => this.closing.delete(name));
    this.closing.set(name, closed);
  }

  private async closeInTime(partition: string, host: TaskExecutor): Promise<void> {
    const inTime = new AbortController();
    const closed = host.close().finally(() => inTime.abort());
    await Promise.race([closed, waitOrAbort(LET_GO_WITHIN_MS, inTime.signal)]);
    if (!inTime.signal.aborted)
      this.options.logger.warn('task_close_overdue', { partition, afterMs: LET_GO_WITHIN_MS });
  }
}

function foreignPartition(name: string, groupId: string): StreamsError {
  return new StreamsError(
    'GROUP_REFUSED',
    `The group ${groupId} has assigned ${name}, which this application does not read: give each application a group of its own.`,
  );
}
