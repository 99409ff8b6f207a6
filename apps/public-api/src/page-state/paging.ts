import type { Request } from 'express';
import { integer, text } from '../http/parameter-readers.js';
import { createQueryReader, type QueryReader } from '../http/query-reader.js';

export const DEFAULT_LIMIT = 100;
/** Of lists other than the history's. */
export const MAX_LIST_LIMIT = 1_000;
export const MAX_PAGE_STATE_LENGTH = 4_096;

/** Which page of a walk is asked for, and how much of it. */
export interface Paging {
  readonly limit: number;
  /** Absent: the first page. */
  readonly pageState: string | undefined;
}

export function readPaging(query: QueryReader, maxLimit: number): Paging {
  return {
    limit: query.optional('limit', integer(1, maxLimit)) ?? DEFAULT_LIMIT,
    pageState: query.optional('pageState', text(MAX_PAGE_STATE_LENGTH)),
  };
}

/** Of a list that takes no other parameter. @throws ApiError 400 naming what is wrong with the query */
export function readListPaging(request: Request): Paging {
  const query = createQueryReader(request.url, { single: ['limit', 'pageState'] });
  const paging = readPaging(query, MAX_LIST_LIMIT);
  query.finish();
  return paging;
}
