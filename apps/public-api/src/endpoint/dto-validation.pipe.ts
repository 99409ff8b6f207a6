import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { z } from 'zod';
import { type ErrorDetail, invalidBody, notFound } from '../errors/api-error.js';
import { type DtoClass, isDto } from './dto.js';
import { createQueryReader, type QueryReader, type QueryText } from './query-text.js';

/** Turns what arrives into the DTO that a handler's parameter has for a type, or refuses it. */
@Injectable()
export class DtoValidationPipe implements PipeTransform {
  private readonly queryReaders = new Map<DtoClass, QueryReader>();

  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (!isDto(metatype)) return value;
    if (type === 'query') return this.queryReader(metatype)(value as QueryText);
    return type === 'param' ? readPath(metatype, value) : readBody(metatype, value);
  }

  private queryReader(dto: DtoClass): QueryReader {
    const known = this.queryReaders.get(dto);
    if (known !== undefined) return known;
    const reader = createQueryReader(dto);
    this.queryReaders.set(dto, reader);
    return reader;
  }
}

/** @throws ApiError 404: text that is not an id names nothing; the schema says what there is none of */
function readPath({ schema }: DtoClass, params: unknown): unknown {
  const result = schema.safeParse(params);
  if (result.success) return result.data;
  throw notFound(result.error.issues[0]?.message);
}

/** @throws ApiError 400 naming every field that is wrong, as a path such as `auth.tokenUrl` or `scopes.1` */
export function readBody<T extends z.ZodType>({ schema }: DtoClass<T>, body: unknown): z.output<T> {
  if (body === undefined) throw invalidBody([{ message: 'must be a JSON object' }]);
  const result = schema.safeParse(body, { error: plainMessage });
  if (result.success) return result.data;
  throw invalidBody(result.error.issues.flatMap(detailsOf));
}

function detailsOf(issue: z.core.$ZodIssue): ErrorDetail[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ ...fieldOf([...issue.path, key]), message: 'is not a field of this resource' }));
  }
  return [{ ...fieldOf(issue.path), message: issue.message }];
}

/** For faults that the schemas have no message for. */
function plainMessage(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'invalid_type') return undefined;
  if (issue.path?.length === 0) return 'must be a JSON object';
  return issue.input === undefined ? 'is required' : `must be of type ${issue.expected}`;
}

function fieldOf(path: readonly PropertyKey[]): { field?: string } {
  return path.length === 0 ? {} : { field: path.map(String).join('.').slice(0, 128) };
}
