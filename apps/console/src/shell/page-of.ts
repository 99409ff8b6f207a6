/**
 * What tells one page from another: its path, and among the vehicles what is shown of them, which stands in the search because
 * an id may hold anything. A filter of a list makes no other page.
 */
export function pageOf(path: string, search: string): string {
  if (path !== '/vehicles') return path;
  const parameters = new URLSearchParams(search);
  return JSON.stringify([path, parameters.get('deviceId'), parameters.get('geofence')]);
}
