import { z } from 'zod';
import { dto } from '../endpoint/dto.js';
import { dateTime, oneOf, plainText, text } from '../endpoint/fields.js';

const MAX_TASK_LENGTH = 300;
const MAX_REASON_LENGTH = 500;

const unanswered = z
  .array(z.strictObject({ instance: text, reason: text }))
  .meta({ description: 'Instances that did not answer: what they own is missing.' });

const parked = z.strictObject({
  code: text,
  offset: z.int().min(0).optional().meta({ description: 'Of the record that is the cause; absent: no record is.' }),
  message: text,
  since: dateTime,
  nextRetryAt: dateTime.optional().meta({ description: 'Absent: only a command tries it again.' }),
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
          parked: parked.optional().meta({ description: 'Why it cannot go on; only while it is parked.' }),
          lagRecords: z.int().min(0).optional().meta({
            description: 'Lag: offsets after the last processed batch. Absent: none was processed since the start.',
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
          key: text.meta({ description: 'What the key of a record says.' }),
          cleanup: text.meta({ description: '`delete` or `compact`.' }),
          retentionMs: z.int().min(0).optional().meta({
            description: 'As the set-up makes it. Absent: the newest record of each key stays.',
          }),
          usedBy: text.meta({ description: 'Who writes and who reads it.' }),
          consumers: z.array(
            z.strictObject({
              group: text,
              partitions: z.int().min(0).meta({ description: 'Those that an instance owns now.' }),
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
          '`retry` tries it again now. `skip` puts the record that it fails at into the quarantine, and goes on after it.',
      }),
      reason: plainText(MAX_REASON_LENGTH).meta({ description: 'For the log: why this is done.' }),
    })
    .meta({ id: 'TaskCommand' }),
) {}
