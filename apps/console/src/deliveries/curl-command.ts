/** A command for a POSIX shell that sends the body again as it was; without a signature, which only the service can make. */
export function curlCommand({ url, body, eventId }: { url: string; body: string; eventId: string }): string {
  return [
    `curl -X POST ${quoted(url)}`,
    `-H 'content-type: application/json'`,
    `-H ${quoted(`X-Service-Event-Id: ${eventId}`)}`,
    `--data-binary ${quoted(body)}`,
  ].join(' \\\n  ');
}

/** In single quotes, where nothing but a single quote has a meaning. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
