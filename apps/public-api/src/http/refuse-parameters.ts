import type { Request } from 'express';
import { createQueryReader } from './query-reader.js';

/** @throws ApiError 400 naming every query parameter: this resource has none */
export function refuseParameters(request: Request): void {
  createQueryReader(request.url, { single: [] }).finish();
}
