import { z } from 'zod';
import { stackEnvironment } from '../stack/stack-config.js';
import { CliError, type Terminal, writeLine } from '../terminal/output.js';

export interface TasksOptions {
  readonly dataDir: string;
}

export interface ListTasksOptions extends TasksOptions {
  /** Also those that are not parked. */
  readonly all: boolean;
}

export interface TaskCommandOptions extends TasksOptions {
  /** `<consumer group>:<partition>` */
  readonly task: string;
  readonly command: 'retry' | 'skip' | 'seek';
  /** Of a seek: `earliest`, `latest` or an offset. */
  readonly position?: string;
}

/** Longer than an instance takes that is busy, shorter than a person waits for one that hangs. */
const TIMEOUT_MS = 5_000;

const tasksAnswer = z.object({ tasks: z.array(z.looseObject({ task: z.string(), state: z.string() })) });
const commandAnswer = z.object({ reason: z.string().optional() });

/**
 * Prints the parked tasks of every instance (R-45), one JSON line each.
 * @throws CliError after the lines, when an instance did not answer: the list may lack its tasks
 */
export async function listTasks(terminal: Terminal, { dataDir, all }: ListTasksOptions): Promise<void> {
  const { answers, failures } = await askAll(dataDir, '/tasks', { method: 'GET' });
  for (const { url, body } of answers) {
    for (const task of tasksAnswer.parse(body).tasks) {
      if (all || task.state === 'parked') await writeLine(terminal.out, JSON.stringify({ ...task, instance: url }));
    }
  }
  if (failures.length > 0) throw new CliError(`Not listed, ${failures.join('; ')}.`, 1);
}

/**
 * Has the instance that owns a parked task try it now, skip the record that it fails at, or continue from a position.
 * @throws CliError when it refuses, or no instance owns the task
 */
export async function commandTask(terminal: Terminal, options: TaskCommandOptions): Promise<void> {
  const { dataDir, task, command, position } = options;
  if (position !== undefined && !/^(earliest|latest|\d{1,15})$/.test(position))
    throw new CliError(`"${position}" is no position: give earliest, latest or an offset.`, 2);
  const path = `/tasks/${encodeURIComponent(task)}/${command}${position === undefined ? '' : `/${position}`}`;
  const headers = { 'content-type': 'application/json' };
  const { answers, failures } = await askAll(dataDir, path, { method: 'POST', headers });
  const refused = answers.find(({ status }) => status === 409);
  if (refused !== undefined) throw new CliError(`${task}: ${commandAnswer.parse(refused.body).reason ?? 'refused'}`, 1);
  if (!answers.some(({ status }) => status === 200)) {
    const unknown = failures.length > 0 ? ` (${failures.join('; ')})` : '';
    throw new CliError(`No instance has a task ${task}${unknown}. "tasks list --all" lists them.`, 1);
  }
  const done = { retry: 'tries again', skip: 'skips one record', seek: `continues from ${position ?? ''}` };
  await writeLine(terminal.out, `${task}: ${done[command]}`);
}

interface Answer {
  readonly url: string;
  readonly status: number;
  readonly body: unknown;
}

async function askAll(dataDir: string, path: string, init: RequestInit) {
  const stack = await stackEnvironment(dataDir);
  const urls = stack.require('WAYPOST_ADMIN_URLS').split(',');
  const answers: Answer[] = [];
  const failures: string[] = [];
  await Promise.all(
    urls.map(async (url) => {
      try {
        const response = await fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
        answers.push({ url, status: response.status, body: await response.json() });
      } catch (error) {
        failures.push(`${url} does not answer: ${String(error instanceof Error ? (error.cause ?? error) : error)}`);
      }
    }),
  );
  answers.sort((a, b) => urls.indexOf(a.url) - urls.indexOf(b.url));
  return { answers, failures };
}
