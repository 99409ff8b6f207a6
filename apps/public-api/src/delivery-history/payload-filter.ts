/** A filter on a field of the payload, as `path:value` says it. */
export interface PayloadFilter {
  /** Names from the outside in. */
  readonly path: readonly string[];
  /** The text of the value: a string as it is, a number, `true`, `false` and `null` as in JSON. */
  readonly value: string;
}

/** The first colon ends the path, so that a value may have more of them, as times do. */
export function parsePayloadFilter(text: string): PayloadFilter {
  const end = text.indexOf(':');
  return { path: text.slice(0, end).split('.'), value: text.slice(end + 1) };
}

/**
 * Whether a body has the value at the path. The path may begin in any object of the body, so that one need not know what
 * a format wraps its fields in; of a list, any item counts.
 */
export function matchesPayload(body: string, filter: PayloadFilter): boolean {
  // Bodies are written by JSON.stringify(), so that most need not be parsed.
  return body.includes(JSON.stringify(filter.value).slice(1, -1)) && isWithin(JSON.parse(body), filter);
}

function isWithin(node: unknown, filter: PayloadFilter): boolean {
  if (!isObject(node)) return false;
  if (!Array.isArray(node) && isAt(node, filter.path, filter.value)) return true;
  return Object.values(node).some((inner) => isWithin(inner, filter));
}

function isAt(node: unknown, [name, ...rest]: readonly string[], value: string): boolean {
  if (Array.isArray(node)) return node.some((item) => isAt(item, name === undefined ? [] : [name, ...rest], value));
  if (name === undefined) return !isObject(node) && String(node) === value;
  return isObject(node) && Object.hasOwn(node, name) && isAt(node[name], rest, value);
}

function isObject(node: unknown): node is Record<string, unknown> {
  return typeof node === 'object' && node !== null;
}
