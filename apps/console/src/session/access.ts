/** What a page reads first: without this scope it would show nothing but a refusal. */
const SCOPES: Readonly<Record<string, string>> = {
  '/overview': 'events:read',
  '/deliveries': 'events:read',
  '/subscriptions': 'subscriptions:read',
  '/vehicles': 'paths:read',
};

/** Whether the pages below this path are open to somebody with these scopes; null: not known so far. */
export function isOpen(path: string, scopes: readonly string[] | null): boolean {
  const scope = SCOPES[path];
  return scopes === null || scope === undefined || scopes.includes(scope);
}
