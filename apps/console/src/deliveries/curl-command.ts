interface Delivered {
  readonly url: string;
  readonly body: string;
  readonly eventId: string;
  readonly subscriptionId: string;
}

/**
 * Commands for a POSIX shell that send the body again as it was, signed in both ways (R-19) at the time they run. The
 * service shows a secret only once, so it has to be filled in. No comments: an interactive zsh takes them for words.
 */
export function curlCommand({ url, body, eventId, subscriptionId }: Delivered): string {
  return [
    `secret='whsec_<the signing secret of this subscription>'`,
    `id=${quoted(eventId)} body=${quoted(body)} t=$(date +%s)`,
    `hex() { od -An -v -tx1 | tr -d ' \\n'; }`,
    `key=$(printf %s "\${secret#whsec_}" | base64 -d | hex)`,
    `hmac() { printf %s "$1.$body" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary; }`,
    [
      // Else curl takes [] and {} of a URL for several URLs.
      `curl --globoff -X POST ${quoted(url)}`,
      `-H 'content-type: application/json'`,
      `-H "webhook-id: $id" -H "webhook-timestamp: $t" -H "webhook-signature: v1,$(hmac "$id.$t" | base64)"`,
      `-H "X-Service-Signature: t=$t,v1=$(hmac "$t" | hex)"`,
      `-H "X-Service-Event-Id: $id" -H 'X-Service-Subscription-Id: ${subscriptionId}' -H 'X-Service-Attempt: 1'`,
      `--data-raw "$body"`,
    ].join(' \\\n  '),
  ].join('\n');
}

/** In single quotes, where nothing but a single quote has a meaning. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
