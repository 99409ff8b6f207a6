/**
 * Commands for a POSIX shell that send the body again as it was, signed (R-19) at the time they run. The service shows a
 * secret only once, so it has to be filled in.
 */
export function curlCommand({ url, body, eventId }: { url: string; body: string; eventId: string }): string {
  return [
    `secret='whsec_...' # the signing secret of this subscription`,
    `id=${quoted(eventId)} body=${quoted(body)} t=$(date +%s)`,
    `key=$(printf %s "\${secret#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \\n')`,
    `signature=$(printf %s "$id.$t.$body" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)`,
    [
      `curl -X POST ${quoted(url)}`,
      `-H 'content-type: application/json'`,
      `-H "webhook-id: $id" -H "webhook-timestamp: $t" -H "webhook-signature: v1,$signature"`,
      `-H "X-Service-Event-Id: $id" --data-raw "$body"`,
    ].join(' \\\n  '),
  ].join('\n');
}

/** In single quotes, where nothing but a single quote has a meaning. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
