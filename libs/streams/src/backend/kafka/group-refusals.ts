import { StreamsError } from '../../errors.js';
import { KAFKA_ERROR, kafkaErrorCode } from './kafka-errors.js';

/** Refusals of a group that no later try can change, each with its mend. */
const MENDS = new Map<number, string>([
  [23, 'Its members use another protocol: end those that are no instances of this application, or use another group.'],
  [24, 'The name of the group is not valid.'],
  [26, "The session timeout is outside of the broker's group.min.session.timeout.ms and group.max.session.timeout.ms."],
  [30, 'This user may not read as this group: grant it READ on the group.'],
  [81, "The group is full: raise the broker's group.max.size or run fewer instances."],
]);

/** What ends the membership for good; null: another try may succeed. */
export const groupRefusal = (error: unknown, groupId: string, instanceId: string | undefined): StreamsError | null => {
  const code = kafkaErrorCode(error);
  if (code === KAFKA_ERROR.fencedInstanceId) {
    return new StreamsError(
      'INSTANCE_FENCED',
      `Another process joined the group as instance ${instanceId ?? ''}. Give each instance an id of its own.`,
      { cause: error },
    );
  }
  const mend = code === null ? undefined : MENDS.get(code);
  if (mend === undefined) return null;
  return new StreamsError('GROUP_REFUSED', `The group ${groupId} does not take this member. ${mend}`, { cause: error });
};
