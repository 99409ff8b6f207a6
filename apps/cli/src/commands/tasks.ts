import { createInstances, type InstanceCommand, type Instances, unansweredText } from '@waypost/platform/without-nest';
import { stackEnvironment } from '../stack/stack-config.js';
import { CliError, type Terminal, writeLine } from '../terminal/output.js';

export interface TasksOptions {
  readonly dataDir: string;
}

export interface ListTasksOptions extends TasksOptions {
  /** Also lists tasks that are not parked. */
  readonly all: boolean;
}

export interface TaskCommandOptions extends TasksOptions {
  /** `<consumer group>:<partition>` */
  readonly task: string;
  readonly command: InstanceCommand['name'];
  /** The target of a seek: `earliest`, `latest` or an offset. Of a skip: the offset of the record that is meant. */
  readonly position?: string | undefined;
  /** Of the record to skip, where the task reads several topics. */
  readonly topic?: string | undefined;
}

/**
 * Prints the parked tasks of every instance, one JSON line each.
 * @throws CliError after the lines, when an instance did not answer: the list may lack its tasks
 */
export async function listTasks(terminal: Terminal, { dataDir, all }: ListTasksOptions): Promise<void> {
  const instances = await instancesOf(dataDir);
  const { tasks, unanswered } = await instances.tasks();
  for (const task of tasks) {
    if (all || task.state === 'parked') await writeLine(terminal.out, JSON.stringify(task));
  }
  if (unanswered.length > 0) throw new CliError(`Not all listed: ${unansweredText(unanswered)}.`, 1);
}

/**
 * Has the instance that owns a parked task try it now, skip the record that it fails at, or continue from a position.
 * @throws CliError when it refuses, or no instance owns the task
 */
export async function commandTask(terminal: Terminal, options: TaskCommandOptions): Promise<void> {
  const { dataDir, task, command, position, topic } = options;
  if (topic !== undefined && position === undefined) throw new CliError('--topic is only for --offset.', 2);
  if (position !== undefined) requirePosition(command, position);
  const instances = await instancesOf(dataDir);
  const outcome = await instances.command(task, { name: command, position, topic });
  if (outcome.type === 'refused') throw new CliError(`${task}: ${outcome.reason}`, 1);
  if (outcome.type === 'not_found') {
    const unknown = outcome.unanswered.length > 0 ? ` (${unansweredText(outcome.unanswered)})` : '';
    throw new CliError(`No instance has a task ${task}${unknown}. "tasks list --all" lists them.`, 1);
  }
  const done = { retry: 'retrying', skip: 'skipping one record', seek: `continuing from ${position ?? ''}` };
  await writeLine(terminal.out, `${task}: ${done[command]}`);
}

function requirePosition(command: InstanceCommand['name'], position: string): void {
  if (/^\d{1,15}$/.test(position)) return;
  if (command === 'skip') throw new CliError(`"${position}" is not an offset.`, 2);
  if (position !== 'earliest' && position !== 'latest')
    throw new CliError(`"${position}" is not a position: use earliest, latest or an offset.`, 2);
}

async function instancesOf(dataDir: string): Promise<Instances> {
  const stack = await stackEnvironment(dataDir);
  const urls = stack.require('WAYPOST_ADMIN_URLS').split(',');
  return createInstances(urls.map((url) => url.trim().replace(/\/+$/, '')));
}
