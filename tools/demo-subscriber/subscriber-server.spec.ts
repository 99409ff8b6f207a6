import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { startSubscriberServer, type SubscriberServer } from './subscriber-server.js';

const key = Buffer.alloc(32, 7);
const secret = `whsec_${key.toString('base64')}`;
const body = JSON.stringify({ eventId: 'e-1', eventType: 'position', eventTime: '2026-01-15T08:00:00.000Z' });

let verified: string[];
let bad: number;
let server: SubscriberServer;
let secrets: Map<string, string>;

beforeEach(async () => {
  verified = [];
  bad = 0;
  secrets = new Map([['position', secret]]);
  server = await startSubscriberServer({
    host: '127.0.0.1',
    port: 0,
    eventTypes: ['position', 'ignition_on'],
    secretOf: (eventType) => secrets.get(eventType),
    onVerified: ({ eventType }) => verified.push(eventType),
    onBad: () => {
      bad += 1;
    },
  });
});
afterEach(() => server.close());

async function post(path: string, headers: Record<string, string> = signed()): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${String(server.port)}${path}`, { method: 'POST', headers, body });
  return response.status;
}

function signed(): Record<string, string> {
  const at = new Date();
  const seconds = String(Math.floor(at.getTime() / 1_000));
  const hex = createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex');
  return {
    'webhook-id': 'e-1',
    'webhook-timestamp': seconds,
    'webhook-signature': new Webhook(secret).sign('e-1', at, body),
    'x-service-signature': `t=${seconds},v1=${hex}`,
  };
}

describe('The demo subscriber', () => {
  it('accepts a webhook whose signatures it can verify', async () => {
    expect(await post('/hooks/position')).toBe(204);
    expect(verified).toEqual(['position']);
    expect(bad).toBe(0);
  });

  it('refuses a bad signature', async () => {
    expect(await post('/hooks/position', { ...signed(), 'x-service-signature': 't=1,v1=00' })).toBe(401);
    expect(verified).toEqual([]);
    expect(bad).toBe(1);
  });

  it('accepts and ignores unknown event types', async () => {
    expect(await post('/hooks/geofence_in')).toBe(204);
    expect(verified).toEqual([]);
  });

  it('answers with a temporary error until it has the secret', async () => {
    expect(await post('/hooks/ignition_on')).toBe(503);
  });

  it('takes another port when the preferred one is taken', async () => {
    const ignore = () => undefined;
    const options = {
      host: '127.0.0.1',
      port: server.port,
      eventTypes: [],
      secretOf: ignore,
      onVerified: ignore,
      onBad: ignore,
    };
    const second = await startSubscriberServer(options);
    expect(second.port).not.toBe(server.port);
    await second.close();
  });
});
