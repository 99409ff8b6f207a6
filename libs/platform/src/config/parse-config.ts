import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { z } from 'zod';
import { BootError } from '../boot-error.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a typed configuration out of the environment. All problems are reported at once, one line each, naming the
 * variable and the fix. The values themselves are never printed: any of them may be a secret.
 * An empty variable counts as unset, as compose files and shells produce them.
 *
 * @throws BootError `config_invalid`
 */
export function parseConfig<T>(schema: z.ZodType<T>, env: Environment): T {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const result = schema.safeParse(given);
  if (result.success) return result.data;

  const problems = [...new Set(result.error.issues.map((issue) => `  ${issue.path.join('.')} ${issue.message}`))];
  const count = problems.length === 1 ? 'one problem' : `${String(problems.length)} problems`;
  throw new BootError('config_invalid', `The configuration has ${count}:\n${problems.join('\n')}`);
}

/** Reads one variable's text; undefined means "not acceptable". */
export type ReadText<T> = (text: string) => T | undefined;

type VariableSchema<T> = z.ZodType<T, string | undefined>;

/** A variable that must be set. `requirement` completes the sentence "NAME must be ...". */
export function required<T>(read: ReadText<T>, requirement: string): VariableSchema<T> {
  return z
    .string()
    .optional()
    .transform((text, ctx) => {
      if (text === undefined) {
        ctx.addIssue({ code: 'custom', message: `is missing: it must be ${requirement}` });
        return z.NEVER;
      }
      return readOrReport(text, read, requirement, ctx);
    });
}

/** A variable with a default; the default may be undefined. */
export function withDefault<T, const D>(read: ReadText<T>, requirement: string, fallback: D): VariableSchema<T | D> {
  return z
    .string()
    .optional()
    .transform((text, ctx) => (text === undefined ? fallback : readOrReport(text, read, requirement, ctx)));
}

function readOrReport<T>(text: string, read: ReadText<T>, requirement: string, ctx: z.core.$RefinementCtx): T {
  const value = read(text);
  if (value === undefined) {
    ctx.addIssue({ code: 'custom', message: `is not usable: it must be ${requirement}` });
    return z.NEVER;
  }
  return value;
}

/**
 * Combines sections that each read the whole environment (such as `kafkaConfig`) into one object: `{ kafka, registry
 * }`. The problems of all sections are collected, even if an earlier one has already failed.
 */
export function configSections<S extends Readonly<Record<string, z.ZodType>>>(
  sections: S,
): z.ZodType<{ [K in keyof S]: z.output<S[K]> }> {
  return z.unknown().transform((env, ctx) => {
    const entries = Object.entries(sections).map(([name, section]) => {
      const result = section.safeParse(env);
      if (result.success) return [name, result.data] as const;
      for (const issue of result.error.issues) {
        ctx.addIssue({ code: 'custom', path: [...issue.path], message: issue.message });
      }
      return [name, undefined] as const;
    });
    return Object.fromEntries(entries) as { [K in keyof S]: z.output<S[K]> };
  });
}

export const asText: ReadText<string> = (text) => text;

export const asFlag: ReadText<boolean> = (text) => (text === 'true' ? true : text === 'false' ? false : undefined);

/** Comma-separated, spaces around items ignored, empty items dropped; at least one item. */
export function asList(accept: (item: string) => boolean): ReadText<string[]> {
  return (text) => {
    const items = text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
    return items.length > 0 && items.every(accept) ? items : undefined;
  };
}

export function asOneOf<const T extends string>(...values: readonly T[]): ReadText<T> {
  return (text) => values.find((value) => value === text);
}

export function asInteger(min: number, max: number): ReadText<number> {
  return (text) => {
    if (!/^\d{1,15}$/.test(text)) return undefined;
    const value = Number(text);
    return value >= min && value <= max ? value : undefined;
  };
}

/** An IPv4 or IPv6 address. */
export const asAddress: ReadText<string> = (text) => (isIP(text) === 0 ? undefined : text);

/** An absolute URL with one of the given schemes, e.g. `asUrl('http:', 'https:')`. */
export function asUrl(...protocols: readonly string[]): ReadText<string> {
  return (text) => {
    // Right only in the first thousands of calls (Node 20); there are a few, at the start.
    if (!URL.canParse(text)) return undefined;
    const { protocol, hostname } = new URL(text);
    return protocols.includes(protocol) && hostname !== '' ? text : undefined;
  };
}

/** Comma-separated keys, each the base64 of exactly 32 bytes, as `openssl rand -base64 32` prints it. */
export const asKeys256: ReadText<Buffer[]> = (text) =>
  asList((item) => /^[A-Za-z0-9+/]{43}=$/.test(item))(text)?.map((item) => Buffer.from(item, 'base64'));

/** The text of a PEM file that holds a block such as `CERTIFICATE` or `PRIVATE KEY`, read at once. */
export function asPemFile(block: 'CERTIFICATE' | 'PRIVATE KEY'): ReadText<string> {
  return (path) => {
    try {
      const pem = readFileSync(path, 'utf8');
      // Key blocks have a type: BEGIN RSA PRIVATE KEY, BEGIN EC PRIVATE KEY.
      return new RegExp(`^-----BEGIN ([A-Z0-9]+ )*${block}-----`, 'm').test(pem) ? pem : undefined;
    } catch {
      return undefined;
    }
  };
}
