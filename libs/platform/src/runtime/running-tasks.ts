import type { ParkingReason, TaskCommand, TaskManager, TaskStatus } from '@waypost/streams';

/** One partition of a consumer group, as operators see it. */
export interface TaskView extends TaskStatus {
  /** `<consumer group>:<partition>` */
  readonly task: string;
}

/** The tasks of all consumers in this process, and the commands for parked ones. */
export class RunningTasks {
  private readonly consumers = new Map<string, Pick<TaskManager, 'tasks' | 'command'>>();

  add(group: string, consumer: Pick<TaskManager, 'tasks' | 'command'>): void {
    this.consumers.set(group, consumer);
  }

  all(): TaskView[] {
    return [...this.consumers].flatMap(([group, consumer]) =>
      consumer.tasks().map((status) => ({ task: `${group}:${String(status.partition)}`, ...status })),
    );
  }

  parked(group?: string): (Pick<TaskView, 'task' | 'topic' | 'partition'> & ParkingReason)[] {
    return this.all().flatMap(({ task, topic, partition, parked }) =>
      parked && (group === undefined || task.startsWith(`${group}:`)) ? [{ task, topic, partition, ...parked }] : [],
    );
  }

  /**
   * @param argument the position of a seek, or the offset of the record to skip
   * @param topic that the record to skip is in, where a task reads several
   * @returns why it is refused; null: done; undefined: there is no such task or command here
   */
  command(task: string, name: string, argument?: string, topic?: string): string | null | undefined {
    const found = this.all().find((one) => one.task === task);
    const command = taskCommand(name, argument);
    if (!found || !command) return undefined;
    const parkedIn = found.parked?.topic ?? found.topic;
    if (found.parked && topic !== undefined && topic !== parkedIn)
      return `It is parked in ${parkedIn} by now, not in ${topic}.`;
    return this.consumers.get(task.slice(0, task.lastIndexOf(':')))?.command(found, command);
  }
}

function taskCommand(name: string, argument: string | undefined): TaskCommand | undefined {
  if (argument === undefined) return name === 'retry' || name === 'skip' ? name : undefined;
  if (name === 'seek' && (argument === 'earliest' || argument === 'latest')) return { seek: argument };
  if (!/^\d{1,15}$/.test(argument)) return undefined;
  if (name === 'skip') return { skip: Number(argument) };
  return name === 'seek' ? { seek: Number(argument) } : undefined;
}
