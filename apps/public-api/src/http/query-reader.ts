import { type ErrorDetail, invalidParameters } from '../errors/api-error.js';

/** What a parameter's text means, or why it cannot be used (a phrase that follows the parameter's name). */
export type ParameterResult<T> =
  { readonly type: 'value'; readonly value: T } | { readonly type: 'problem'; readonly message: string };

export type ParameterReader<T> = (text: string) => ParameterResult<T>;

export interface ParameterNames {
  readonly single: readonly string[];
  readonly repeatable?: readonly string[];
}

/**
 * Reads the query of one request strictly: unknown names, repetitions of single parameters and unreadable text are
 * problems. They are collected, so that one answer names them all; `finish` throws it.
 */
export interface QueryReader {
  optional<T>(name: string, read: ParameterReader<T>): T | undefined;
  /** A missing one is a problem; the value is undefined then. */
  required<T>(name: string, read: ParameterReader<T>): T | undefined;
  all<T>(name: string, read: ParameterReader<T>): T[];
  problem(parameter: string, message: string): void;
  /** @throws ApiError 400 naming every problem */
  finish(): void;
}

export function createQueryReader(url: string, names: ParameterNames): QueryReader {
  const problems: ErrorDetail[] = [];
  const values = new Map<string, string[]>();

  function problem(parameter: string, message: string): void {
    problems.push({ parameter, message });
  }

  function readText<T>(name: string, text: string, read: ParameterReader<T>): T | undefined {
    const result = read(text);
    if (result.type === 'value') return result.value;
    problem(name, result.message);
    return undefined;
  }

  function optional<T>(name: string, read: ParameterReader<T>): T | undefined {
    const [text] = values.get(name) ?? [];
    return text === undefined ? undefined : readText(name, text, read);
  }

  for (const [name, text] of queryPairs(url)) {
    const known = names.single.includes(name) || names.repeatable?.includes(name) === true;
    const given = values.get(name);
    if (!known) problem(printable(name), 'is not a parameter of this resource');
    else if (text === null) problem(name, 'is not valid percent-encoded UTF-8');
    else if (given === undefined) values.set(name, [text]);
    else if (names.single.includes(name)) problem(name, 'may be given only once');
    else given.push(text);
  }

  return {
    optional,
    required(name, read) {
      if (!values.has(name) && !problems.some((known) => known.parameter === name)) problem(name, 'is required');
      return optional(name, read);
    },
    all(name, read) {
      const texts = values.get(name) ?? [];
      return texts.flatMap((text) => readText(name, text, read) ?? []);
    },
    problem,
    finish() {
      if (problems.length > 0) throw invalidParameters(problems);
    },
  };
}

/** Name and text of each pair as an HTML form encodes them; null for text that cannot be decoded. */
function queryPairs(url: string): (readonly [string, string | null])[] {
  const start = url.indexOf('?');
  if (start === -1) return [];
  const pairs = url.slice(start + 1).split('&');
  return pairs
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      const name = equals === -1 ? pair : pair.slice(0, equals);
      return [decode(name) ?? name, decode(equals === -1 ? '' : pair.slice(equals + 1))] as const;
    });
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

function printable(name: string): string {
  return name.replaceAll(/\p{C}/gu, '?').slice(0, 64);
}
