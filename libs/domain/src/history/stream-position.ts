import { createPageTokens } from './page-token.js';

/** As much as a request may have of headers. */
const MAX_STREAM_ID_LENGTH = 16_384;

/** Of a stream: the next offset of each partition of a log. */
export const streamPositionTokens = createPageTokens<readonly number[], [offsets: string]>({
  fieldsOf: (offsets) => [offsets.join('-')],
  positionOf: ([offsets]) => offsets.split('-').map(Number),
  maxLength: MAX_STREAM_ID_LENGTH,
});
