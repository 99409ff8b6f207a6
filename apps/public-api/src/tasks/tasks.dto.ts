import { z } from 'zod';
import { dto } from '../endpoint/dto.js';
import { dateTime, oneOf, plainText, text } from '../endpoint/fields.js';

const MAX_TASK_LENGTH = 300;
const MAX_REASON_LENGTH = 500;
/** Of Kafka. */
const MAX_TOPIC_LENGTH = 249;

const unanswered = z
  .array(z.strictObject({ instance: text, reason: text }))
  .meta({ description: 'Instances that did not respond: their partitions are missing.' });

const parked = z.strictObject({
  code: text,
  topic: text.optional().meta({ description: 'Topic of `offset`. Absent: `topic` of the task, its only one.' }),
  offset: z
    .int()
    .min(0)
    .optional()
    .meta({ description: 'Offset of the failing record. Absent: no record is the cause.' }),
  message: text,
  since: dateTime,
  nextRetryAt: dateTime
    .optional()
    .meta({ description: 'When it is retried automatically. Absent: only a command retries it.' }),
});

export class TaskListDto extends dto(
  z.strictObject({
    data: z.array(
      z
        .strictObject({
          task: text.meta({ description: '`<consumer group>:<partition>`' }),
          group: text,
          topic: text,
          partition: z.int().min(0),
          state: text.meta({ description: '`running`, `starting` or `parked`.' }),
          parked: parked.optional().meta({ description: 'Why it is parked; absent if it is not.' }),
          lagRecords: z.int().min(0).optional().meta({
            description:
              'Lag: offsets after the last processed batch. Absent: no batch has been processed since startup.',
          }),
          instance: text.meta({ description: 'Admin address of the process that owns it.' }),
        })
        .meta({ id: 'Task' }),
    ),
    unanswered,
  }),
) {}

export class TopicListDto extends dto(
  z.strictObject({
    data: z.array(
      z
        .strictObject({
          name: text,
          key: text.meta({ description: 'Meaning of the record key.' }),
          cleanup: text.meta({ description: '`delete` or `compact`.' }),
          retentionMs: z.int().min(0).optional().meta({
            description: 'As set when the topic was created. Absent: the newest record of each key is kept.',
          }),
          usedBy: text.meta({ description: 'Applications that write or read it.' }),
          consumers: z.array(
            z.strictObject({
              group: text,
              partitions: z.int().min(0).meta({ description: 'Partitions currently owned by an instance.' }),
              parked: z.int().min(0),
              lagRecords: z.int().min(0).meta({
                description: 'Total lag: offsets after the last processed batch, over all partitions.',
              }),
            }),
          ),
        })
        .meta({ id: 'Topic' }),
    ),
    unanswered,
  }),
) {}

export class TaskPathDto extends dto(
  z.object({ task: plainText(MAX_TASK_LENGTH).meta({ description: '`<consumer group>:<partition>`' }) }),
) {}

export class TaskCommandDto extends dto(
  z
    .strictObject({
      command: oneOf(['retry', 'skip']).meta({
        description:
          '`retry` retries the partition now. `skip` moves the failing record to the rejected records and continues after it.',
      }),
      offset: z.int().min(0).optional().meta({
        description:
          'Only with `skip`: `parked.offset` of the record to skip. If the partition is parked at another one by now, nothing is skipped (409).',
      }),
      topic: plainText(MAX_TOPIC_LENGTH).optional().meta({
        description:
          'Only with `offset`: `parked.topic`, for a task that reads several topics. Compared like the offset.',
      }),
      reason: plainText(MAX_REASON_LENGTH).meta({ description: 'The reason, for the log.' }),
    })
    .refine(({ command, offset }) => offset === undefined || command === 'skip', {
      path: ['offset'],
      message: 'is only for the command skip',
    })
    .refine(({ offset, topic }) => topic === undefined || offset !== undefined, {
      path: ['topic'],
      message: 'is only for an offset',
    })
    .meta({ id: 'TaskCommand' }),
) {}
