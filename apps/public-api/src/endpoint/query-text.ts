import { z } from 'zod';
import { type ErrorDetail, invalidParameters } from '../errors/api-error.js';
import type { DtoClass } from './dto.js';

/** One value of a parameter. */
interface Given {
  /** null: it cannot be decoded. */
  readonly text: string | null;
  /** As it stands in the URL. */
  readonly written: string;
}

/** The values of each parameter, in the order of the URL. */
export type QueryText = ReadonlyMap<string, readonly Given[]>;

/** Express's query parser here: the pairs as an HTML form encodes them, with nothing lost or guessed. */
export function parseQuery(query: string | null | undefined): QueryText {
  const values = new Map<string, Given[]>();
  for (const pair of (query ?? '').split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = equals === -1 ? pair : pair.slice(0, equals);
    const written = equals === -1 ? '' : pair.slice(equals + 1);
    const decodedName = decode(name) ?? name;
    values.set(decodedName, [...(values.get(decodedName) ?? []), { text: decode(written), written }]);
  }
  return values;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

/** How the text of a parameter becomes a value: what its JSON Schema says. */
interface ParameterForm {
  readonly type?: string;
  /** Arrays: false: one text with commas; else the parameter is repeated. */
  readonly explode?: boolean;
  /** The longest text of an array with commas, as it stands in the URL. */
  readonly maxWrittenLength?: number;
}

export type QueryReader = (query: QueryText) => unknown;

/**
 * Reads queries by the schema of their DTO, strictly: unknown names, repetitions of single parameters and unusable
 * values are problems, and one 400 names them all.
 */
export function createQueryReader({ schema }: DtoClass): QueryReader {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input' }) as { properties?: Record<string, ParameterForm> };
  const forms = new Map(Object.entries(properties));

  return (query) => {
    const problems: ErrorDetail[] = [];
    const values: Record<string, unknown> = {};
    for (const [name, given] of query) {
      const form = forms.get(name);
      const message = form === undefined ? NOT_A_PARAMETER : problemOf(form, given);
      if (message !== null) problems.push({ parameter: printableName(name), message });
      else if (form !== undefined) values[name] = valueOf(form, given);
    }
    const result = schema.safeParse(values, { error: plainMessage });
    if (!result.success)
      problems.push(...problemsOf(result.error, new Set(problems.map(({ parameter }) => parameter))));
    if (problems.length > 0) throw invalidParameters(problems);
    return result.data;
  };
}

const NOT_A_PARAMETER = 'is not a parameter of this resource';

/** @throws ApiError 400 naming every query parameter: the endpoint has none */
export function refuseParameters(query: QueryText): void {
  const names = [...query.keys()];
  if (names.length === 0) return;
  throw invalidParameters(names.map((name) => ({ parameter: printableName(name), message: NOT_A_PARAMETER })));
}

function isRepeatable({ type, explode }: ParameterForm): boolean {
  return type === 'array' && explode !== false;
}

function problemOf(form: ParameterForm, given: readonly Given[]): string | null {
  if (given.some(({ text }) => text === null)) return 'is not valid percent-encoded UTF-8';
  if (given.length > 1 && !isRepeatable(form)) return 'may be given only once';
  const { maxWrittenLength = Infinity } = form;
  if (given.every(({ written }) => written.length <= maxWrittenLength)) return null;
  return `must be at most ${String(maxWrittenLength)} characters as written in the URL: send fewer values at once`;
}

function valueOf(form: ParameterForm, given: readonly Given[]): unknown {
  const texts = given.map(({ text }) => text ?? '');
  if (isRepeatable(form)) return texts;
  const [text = ''] = texts;
  if (form.type === 'array') return text.split(',');
  if (form.type === 'boolean') return BOOLEANS.get(text) ?? text;
  return form.type === 'integer' && /^\d{1,9}$/.test(text) ? Number(text) : text;
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

/** The first problem of each parameter that has none yet. */
function problemsOf({ issues }: z.ZodError, known: Set<string | undefined>): ErrorDetail[] {
  return issues.flatMap(({ path, message }) => {
    const parameter = String(path[0]);
    if (known.has(parameter)) return [];
    known.add(parameter);
    return [{ parameter, message }];
  });
}

function plainMessage({ input }: z.core.$ZodRawIssue): string | undefined {
  return input === undefined ? 'is required' : undefined;
}

function printableName(name: string): string {
  return name.replaceAll(/\p{C}/gu, '?').slice(0, 64);
}
