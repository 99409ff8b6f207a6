import { randomBytes } from 'node:crypto';
import { formatSigningSecret, openSigningSecret, type WebhookSubscription } from '@waypost/domain';
import type { TestAnswer } from './test-api.js';
import { useTestFleet } from './test-fleet.js';

export const PATH = '/public/v1/webhook-subscriptions';
export const HOOK = 'https://receiver.example/hook';
export const BEARER = {
  type: 'bearer',
  tokenUrl: 'https://id.example/token',
  clientId: 'client',
  clientSecret: 'client-secret-7',
  scope: 'send',
};

export interface Resource {
  id: string;
  eventType: string;
  auth: object;
  secret: string;
}

export function dataOf(answer: TestAnswer) {
  return (answer.body as { data: Resource[] }).data;
}

/** The subscriptions of a test fleet, over HTTP and as they are stored. URLs with `internal` may not be called. */
export function useTestSubscriptions() {
  const sealingKeys = [randomBytes(32)];
  const suite = useTestFleet({
    sealingKeys,
    checkUrl: (url) =>
      Promise.resolve(
        url.includes('internal') ? { type: 'refused', message: 'resolves to a private address' } : { type: 'accepted' },
      ),
  });

  async function stored(id: string): Promise<WebhookSubscription> {
    const found = await suite.store.subscriptions.get({ fleetId: suite.fleetId, id });
    if (found === null) throw new Error('not stored');
    return found;
  }

  async function signingSecrets(id: string): Promise<string[]> {
    return (await stored(id)).secrets.map(({ sealed }) => {
      const opened = openSigningSecret(sealed, sealingKeys, id);
      return opened.type === 'opened' ? formatSigningSecret(opened.plaintext) : opened.reason;
    });
  }

  async function create(body: object = {}): Promise<Resource> {
    const answer = await suite.send('POST', PATH, { eventType: 'position', url: HOOK, ...body });
    const [made] = dataOf(answer);
    if (answer.status !== 201 || made === undefined) throw new Error(JSON.stringify(answer.body));
    return made;
  }

  return { suite, send: suite.send, sealingKeys, stored, signingSecrets, create };
}
