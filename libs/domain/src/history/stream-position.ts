import { createPageTokens } from './page-token.js';

/** The limit for the headers of a request. */
const MAX_STREAM_ID_LENGTH = 16_384;

/** Tokens of a stream: the next offset of each partition of a log. */
export const streamPositionTokens = createPageTokens<readonly number[], [offsets: string]>({
  fieldsOf: (offsets) => [offsets.join('-')],
  positionOf: ([offsets]) => offsets.split('-').map(Number),
  maxLength: MAX_STREAM_ID_LENGTH,
});
