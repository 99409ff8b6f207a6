import { z } from 'zod';
import type { TaskView } from '../runtime/running-tasks.js';

/** A task, and the admin address of the instance that owns it. */
export interface InstanceTask extends TaskView {
  readonly instance: string;
}

export interface InstanceTasks {
  readonly tasks: readonly InstanceTask[];
  /** Instances whose tasks may be missing. */
  readonly unanswered: readonly Unanswered[];
}

export interface Unanswered {
  readonly instance: string;
  /** The end of a sentence: "does not respond: ...", "refuses: ..." */
  readonly reason: string;
}

export interface InstanceCommand {
  readonly name: 'retry' | 'skip' | 'seek';
  /** The target of a seek: `earliest`, `latest` or an offset. Of a skip: the offset of the record that is meant. */
  readonly position?: string | undefined;
  /** Of a skip with an offset: the topic of that record, where the task reads several. */
  readonly topic?: string | undefined;
}

export type CommandOutcome =
  | { readonly type: 'done' }
  | { readonly type: 'refused'; readonly reason: string }
  /** No instance that answers owns the task. */
  | { readonly type: 'not_found'; readonly unanswered: readonly Unanswered[] };

/** Asks the admin servers of all instances at once. */
export interface Instances {
  tasks(): Promise<InstanceTasks>;
  /** Sends the command to the instance that owns the task `<consumer group>:<partition>`. */
  command(task: string, command: InstanceCommand): Promise<CommandOutcome>;
}

/** Longer than a busy instance takes, shorter than a person waits for one that hangs. */
const TIMEOUT_MS = 5_000;

const parkingReason = z.looseObject({
  code: z.string(),
  topic: z.string().optional(),
  offset: z.number().nullable(),
  message: z.string(),
  since: z.number(),
  nextRetryAt: z.number().nullable(),
});
const taskView = z.looseObject({
  task: z.string(),
  topic: z.string(),
  partition: z.number(),
  state: z.string(),
  parked: parkingReason.nullable(),
  // Instances of an older version do not have it.
  lagRecords: z.number().nullable().default(null),
});
const tasksAnswer = z.object({ tasks: z.array(taskView) });
const reasonAnswer = z.object({ reason: z.string().optional() });

/** @param urls `http://host:port` of each instance */
export function createInstances(urls: readonly string[]): Instances {
  async function askAll(path: string, init: RequestInit): Promise<{ answers: Answer[]; unanswered: Unanswered[] }> {
    const asked = await Promise.all(urls.map((url) => ask(url, path, init)));
    const unanswered = asked.filter((one): one is Unanswered => 'reason' in one);
    return { answers: asked.filter((one): one is Answer => 'status' in one), unanswered };
  }

  return {
    async tasks() {
      const { answers, unanswered } = await askAll('/tasks', { method: 'GET' });
      const read = answers.map(tasksIn);
      const unusable = read.filter((one): one is Unanswered => 'reason' in one);
      const tasks = read.flatMap((one) => ('reason' in one ? [] : one.tasks));
      return { tasks, unanswered: [...unanswered, ...unusable] };
    },

    async command(task, { name, position, topic }) {
      const parts = [task, name, position, topic].flatMap((part) =>
        part === undefined ? [] : [encodeURIComponent(part)],
      );
      const path = `/tasks/${parts.join('/')}`;
      const headers = { 'content-type': 'application/json' };
      const { answers, unanswered } = await askAll(path, { method: 'POST', headers });
      const refused = answers.find(({ status }) => status === 409);
      if (refused !== undefined) return { type: 'refused', reason: reasonOf(refused.body) };
      if (answers.some(({ status }) => status === 200)) return { type: 'done' };
      const forbidden = answers.filter(({ status }) => status !== 404);
      const refusals = forbidden.map(({ instance, body }) => ({ instance, reason: `refuses: ${reasonOf(body)}` }));
      return { type: 'not_found', unanswered: [...unanswered, ...refusals] };
    },
  };
}

/** `http://10.0.0.7:9100 does not respond: ...; ...` */
export function unansweredText(unanswered: readonly Unanswered[]): string {
  return unanswered.map(({ instance, reason }) => `${instance} ${reason}`).join('; ');
}

interface Answer {
  readonly instance: string;
  readonly status: number;
  readonly body: unknown;
}

async function ask(instance: string, path: string, init: RequestInit): Promise<Answer | Unanswered> {
  try {
    const response = await fetch(`${instance}${path}`, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { instance, status: response.status, body: await response.json() };
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return { instance, reason: `does not respond: ${String(cause)}` };
  }
}

/** A proxy, or another server at the address, may answer too: its reply must not hide the tasks of the others. */
function tasksIn({ instance, status, body }: Answer): Pick<InstanceTasks, 'tasks'> | Unanswered {
  const { data } = tasksAnswer.safeParse(body);
  if (status !== 200) return { instance, reason: `responded with status ${String(status)}` };
  if (data === undefined) return { instance, reason: 'did not respond with tasks' };
  return { tasks: data.tasks.map((task) => ({ ...task, instance }) as InstanceTask) };
}

function reasonOf(body: unknown): string {
  return reasonAnswer.safeParse(body).data?.reason ?? 'no reason given';
}
