import { StreamsError, errorMessage } from '../../errors.js';
import { isFenced, kafkaErrorCode } from './kafka-errors.js';

/** Whether a later producer of the same transactional.id has made this one void. */
export const isFencedError = (error: unknown): boolean =>
  isFenced(kafkaErrorCode(error)) || (error instanceof StreamsError && error.code === 'PRODUCER_FENCED');

/** What a producer's call ends with; the producer is of no further use. */
export const producerError = (transactionalId: string, error: unknown): StreamsError =>
  isFencedError(error)
    ? new StreamsError('PRODUCER_FENCED', `Another producer has taken over ${transactionalId}.`, { cause: error })
    : new StreamsError(
        'PRODUCER_FAILED',
        `The producer ${transactionalId} failed and is of no further use: ${errorMessage(error)}`,
        { cause: error },
      );
