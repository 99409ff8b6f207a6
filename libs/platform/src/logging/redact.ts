import { types } from 'node:util';

/**
 * What may be logged (R-40: no secrets, no payloads). Field names decide for whole values; text is also searched for
 * recognizable secrets, because error messages quote URLs and headers.
 */
const HIDDEN_NAMES = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'body',
  'payload',
  'secrets',
]);
const HIDDEN_ENDINGS = /(secret|password|token|apikey|signature|privatekey|sealingkey|tokenkey|authorization)$/;

const SECRET_TEXT: readonly (readonly [RegExp, string])[] = [
  [/\b(whsec_|wp[acs]?_)[A-Za-z0-9+/=_-]{8,}/g, '$1[redacted]'],
  [/\b(client_secret=)[^\s&"']+/gi, '$1[redacted]'],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, '$1 [redacted]'],
  [/(\/\/[^\s/:@]*):[^\s/@]+@/g, '$1:[redacted]@'],
];

const MAX_DEPTH = 6;
const MAX_ITEMS = 100;

export function redactFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return redactEntries(fields, 0, new Set());
}

function redactText(text: string): string {
  return SECRET_TEXT.reduce((clean, [pattern, replacement]) => clean.replace(pattern, replacement), text);
}

function redactEntries(fields: object, depth: number, above: ReadonlySet<object>): Record<string, unknown> {
  const within = new Set(above).add(fields);
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    isHidden(name, value) ? '[redacted]' : redactValue(value, depth, within),
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

/** Numbers and flags under a hidden name (`tokenCount`-like) reveal nothing; null and undefined mean "none". */
function isHidden(name: string, value: unknown): boolean {
  if (value === undefined || value === null || typeof value === 'boolean' || typeof value === 'number') return false;
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  return HIDDEN_NAMES.has(plain) || HIDDEN_ENDINGS.test(plain);
}

function redactValue(value: unknown, depth: number, above: ReadonlySet<object>): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (above.has(value)) return '[circular]';
  if (depth >= MAX_DEPTH) return '[too deep]';
  if (ArrayBuffer.isView(value)) return `[${String(value.byteLength)} bytes]`;
  if (types.isNativeError(value)) return redactError(value, depth, above);
  if (types.isDate(value)) return value.toISOString();
  const within = new Set(above).add(value);
  if (types.isMap(value)) return redactEntries(Object.fromEntries(value) as object, depth + 1, within);
  if (Array.isArray(value) || types.isSet(value)) {
    return [...value].slice(0, MAX_ITEMS).map((item) => redactValue(item, depth + 1, within));
  }
  return redactEntries(value, depth + 1, above);
}

/** Drivers attach whole requests to their errors, with headers and bodies, so only these fields are logged. */
function redactError(error: Error, depth: number, above: ReadonlySet<object>): Record<string, unknown> {
  const within = new Set(above).add(error);
  const code: unknown = 'code' in error ? error.code : undefined;
  return {
    name: error.name,
    message: redactText(error.message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: redactText(error.stack) }),
    ...(error.cause === undefined ? {} : { cause: redactValue(error.cause, depth + 1, within) }),
  };
}
