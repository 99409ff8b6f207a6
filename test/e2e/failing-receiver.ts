import type { Answer, Behavior } from '../support/receiver.js';

const accept: Answer = { type: 'respond', status: 200 };

/** Answers to the attempts of one delivery; the last one also to any further attempt. */
type Script = readonly Answer[];

/** By the first byte of the event's id, which is as good as random: about one delivery in seven meets a failure. */
const scripts: readonly { readonly below: number; readonly script: Script }[] = [
  { below: 20, script: [{ type: 'respond', status: 503 }, accept] },
  { below: 31, script: [{ type: 'respond', status: 500 }, { type: 'respond', status: 500 }, accept] },
  // Few: each of them holds back the first attempts of its subscription.
  { below: 32, script: [{ type: 'respond', status: 429, headers: { 'retry-after': '3' } }, accept] },
  { below: 36, script: [{ type: 'reset' }, accept] },
  { below: 256, script: [accept] },
];

/** Permanent without bearer auth. */
const refusal: Script = [{ type: 'respond', status: 401 }];

function scriptOf(eventId: string, path: string): Script {
  if (path.endsWith('/refuses')) return refusal;
  const byte = parseInt(eventId.slice(0, 2), 16);
  return scripts.find(({ below }) => byte < below)?.script ?? [accept];
}

/** Decides by event and attempt number alone, so that a repeated attempt meets the same answer. */
export const failsByScript: Behavior = ({ eventId = '', path, headers }) => {
  const script = scriptOf(eventId, path);
  return script[Number(headers['x-service-attempt']) - 1] ?? accept;
};

/** The status codes that the attempts of a delivery have to end with; null: none. */
export function scriptedStatusCodes(eventId: string, url: string): (number | null)[] {
  return scriptOf(eventId, new URL(url).pathname).map((answer) => (answer.type === 'respond' ? answer.status : null));
}

/**
 * Whether an attempt is answered by a reset. On a connection that was idle before, a sender cannot tell that from a server
 * that ends idle connections, so it may send the request again as the same attempt.
 */
export function isReset(eventId: string, path: string, attempt: number): boolean {
  return scriptOf(eventId, path)[attempt - 1]?.type === 'reset';
}
