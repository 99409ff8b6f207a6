import { z } from 'zod';
import { dto } from '../endpoint/dto.js';
import { nextPageState, parameterText, wholeNumber } from '../endpoint/fields.js';

const DEFAULT_LIMIT = 100;
/** Lists other than the history. */
const MAX_LIST_LIMIT = 1_000;
const MAX_PAGE_STATE_LENGTH = 4_096;

export function limitParameter(maxLimit: number, description = 'Maximum items per page.') {
  return wholeNumber(1, maxLimit).default(DEFAULT_LIMIT).meta({ description });
}

export const pageStateParameter = parameterText(MAX_PAGE_STATE_LENGTH).optional().meta({
  description:
    'Continuation token from the previous page, with all filters unchanged. Pages show the state at the time of reading: an item that no longer matches a filter is left out.',
});

export class ListQueryDto extends dto(
  z.object({ limit: limitParameter(MAX_LIST_LIMIT), pageState: pageStateParameter }),
) {}

/** A page of a list. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.strictObject({ data: z.array(item), nextPageState });
}
