import { type ErrorDetail, invalidParameters } from '../errors/api-error.js';

/** What a parameter's text means, or why it cannot be used (a phrase that follows the parameter's name). */
export type ParameterResult<T> =
  { readonly type: 'value'; readonly value: T } | { readonly type: 'problem'; readonly message: string };

export type TextReader<T> = (text: string) => ParameterResult<T>;
/** `written`: the text as it stands in the URL. */
export type ParameterReader<T> = (text: string, written: string) => ParameterResult<T>;

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
  const values = new Map<string, Given[]>();

  function problem(parameter: string, message: string): void {
    problems.push({ parameter, message });
  }

  function readGiven<T>(name: string, { text, written }: Given, read: ParameterReader<T>): T | undefined {
    const result = read(text, written);
    if (result.type === 'value') return result.value;
    problem(name, result.message);
    return undefined;
  }

  function optional<T>(name: string, read: ParameterReader<T>): T | undefined {
    const [given] = values.get(name) ?? [];
    return given === undefined ? undefined : readGiven(name, given, read);
  }

  for (const { name, text, written } of queryPairs(url)) {
    const known = names.single.includes(name) || names.repeatable?.includes(name) === true;
    const given = values.get(name);
    if (!known) problem(printable(name), 'is not a parameter of this resource');
    else if (text === null) problem(name, 'is not valid percent-encoded UTF-8');
    else if (given === undefined) values.set(name, [{ text, written }]);
    else if (names.single.includes(name)) problem(name, 'may be given only once');
    else given.push({ text, written });
  }

  return {
    optional,
    required(name, read) {
      if (!values.has(name) && !problems.some((known) => known.parameter === name)) problem(name, 'is required');
      return optional(name, read);
    },
    all(name, read) {
      const allGiven = values.get(name) ?? [];
      return allGiven.flatMap((given) => readGiven(name, given, read) ?? []);
    },
    problem,
    finish() {
      if (problems.length > 0) throw invalidParameters(problems);
    },
  };
}

interface Given {
  readonly text: string;
  readonly written: string;
}

interface QueryPair {
  readonly name: string;
  /** null: it cannot be decoded. */
  readonly text: string | null;
  readonly written: string;
}

/** The pairs of a query as an HTML form encodes them. */
function queryPairs(url: string): QueryPair[] {
  const start = url.indexOf('?');
  if (start === -1) return [];
  const pairs = url.slice(start + 1).split('&');
  return pairs
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      const name = equals === -1 ? pair : pair.slice(0, equals);
      const written = equals === -1 ? '' : pair.slice(equals + 1);
      return { name: decode(name) ?? name, text: decode(written), written };
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
