import { Inject, Injectable } from '@nestjs/common';
import { allConsumerGroups, allTopics } from '@waypost/contracts';
import { formatTime } from '@waypost/domain';
import { type Instances, type InstanceTask, LOGGER, type Logger, unansweredText } from '@waypost/platform';
import { ApiError, notFound } from '../errors/api-error.js';
import type { TaskCommandDto, TaskListDto, TopicListDto } from './tasks.dto.js';

/** Instances, or null where their addresses are not configured */
export const INSTANCES = Symbol('INSTANCES');

type TaskItem = TaskListDto['data'][number];
type TopicItem = TopicListDto['data'][number];

/** Asks the instances for their tasks. @throws ApiError for every refusal */
@Injectable()
export class TasksService {
  constructor(
    @Inject(INSTANCES) private readonly instances: Instances | null,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async tasks(): Promise<TaskListDto> {
    const { tasks, unanswered } = await this.configured().tasks();
    return { data: tasks.map(toTask), unanswered: [...unanswered] };
  }

  async topics(): Promise<TopicListDto> {
    const { tasks, unanswered } = await this.configured().tasks();
    return { data: topicsWith(tasks), unanswered: [...unanswered] };
  }

  async command(task: string, { command, offset, topic, reason }: TaskCommandDto, requestId: string): Promise<void> {
    const position = offset === undefined ? undefined : String(offset);
    const outcome = await this.configured().command(task, { name: command, position, topic });
    this.logger.info('task_command', { task, command, offset, topic, reason, outcome: outcome.type, requestId });
    if (outcome.type === 'refused') throw new ApiError(409, 'conflict', outcome.reason);
    if (outcome.type === 'done') return;
    const rest = outcome.unanswered.length === 0 ? '' : `: ${unansweredText(outcome.unanswered)}`;
    throw notFound(`No instance has the task ${task}${rest}.`);
  }

  private configured(): Instances {
    if (this.instances === null)
      throw notFound('This API is not configured to reach the instances: set WAYPOST_ADMIN_URLS.');
    return this.instances;
  }
}

function toTask({ task, topic, partition, state, parked, lagRecords, instance }: InstanceTask): TaskItem {
  return {
    task,
    group: groupOf(task),
    topic,
    partition,
    state,
    instance,
    ...(lagRecords === null ? {} : { lagRecords }),
    ...(parked === null ? {} : { parked: toReason(parked) }),
  };
}

function toReason({ code, topic, offset, message, since, nextRetryAt }: NonNullable<InstanceTask['parked']>) {
  return {
    code,
    message,
    since: formatTime(since),
    ...(topic === undefined ? {} : { topic }),
    ...(offset === null ? {} : { offset }),
    ...(nextRetryAt === null ? {} : { nextRetryAt: formatTime(nextRetryAt) }),
  };
}

/** Every topic with its consumers, those without a running instance too. */
function topicsWith(tasks: readonly InstanceTask[]): TopicItem[] {
  return allTopics.map(({ name, key, cleanup, configs, comment }) => {
    const retention = configs['retention.ms'];
    return {
      name,
      key,
      cleanup,
      usedBy: comment,
      ...(retention === undefined ? {} : { retentionMs: Number(retention) }),
      consumers: allConsumerGroups
        .filter(({ topics }) => topics[0] === name)
        .map(({ id }) =>
          consumerOf(
            id,
            tasks.filter(({ task }) => groupOf(task) === id),
          ),
        ),
    };
  });
}

function consumerOf(group: string, tasks: readonly InstanceTask[]): TopicItem['consumers'][number] {
  return {
    group,
    partitions: tasks.length,
    parked: tasks.filter(({ parked }) => parked !== null).length,
    lagRecords: tasks.reduce((total, { lagRecords }) => total + (lagRecords ?? 0), 0),
  };
}

function groupOf(task: string): string {
  return task.slice(0, task.lastIndexOf(':'));
}
