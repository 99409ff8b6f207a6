import { z } from 'zod';
import { type ErrorDetail, invalidBody } from '../errors/api-error.js';

/** Control characters name nothing, and neither the database nor a Kafka key should meet one. */
export const printable = () =>
  z
    .string()
    .min(1, 'must not be empty')
    // eslint-disable-next-line no-control-regex -- refusing them is the point
    .regex(/^[^\u0000-\u001f\u007f]*$/, 'must hold no control characters');

export const plainText = (max: number) => printable().max(max, `must be at most ${String(max)} characters`);

/** For `refine`: whether all items differ. */
export const unique = (items: readonly string[]): boolean => new Set(items).size === items.length;

/** @throws ApiError 400 naming every field that is wrong, as a path such as `auth.tokenUrl` or `scopes.1` */
export function readBody<T>(schema: z.ZodType<T>, body: unknown): T {
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

/** For what the schemas have no words of their own. */
function plainMessage(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'invalid_type') return undefined;
  if (issue.path?.length === 0) return 'must be a JSON object';
  return issue.input === undefined ? 'is required' : `must be of type ${issue.expected}`;
}

function fieldOf(path: readonly PropertyKey[]): { field?: string } {
  return path.length === 0 ? {} : { field: path.map(String).join('.').slice(0, 128) };
}
