import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { createDeliveryTally, type DeliveryTally } from './delivery-tally.js';
import { startSubscriberServer, type SubscriberServer } from './subscriber-server.js';
import { createHmac } from 'node:crypto';

const key = Buffer.alloc(32, 7);
const secret = `whsec_${key.toString('base64')}`;
const body = JSON.stringify({ eventId: 'e-1', eventType: 'position', eventTime: '2026-01-15T08:00:00.000Z' });

let tally: DeliveryTally;
let server: SubscriberServer;
let secrets: Map<string, string>;

beforeEach(async () => {
  tally = createDeliveryTally();
  secrets = new Map([['position', secret]]);
  server = await startSubscriberServer({
    port: 0,
    eventTypes: ['position', 'ignition_on'],
    secretOf: (eventType) => secrets.get(eventType),
    tally,
    now: Date.now,
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
  it('accepts and counts what it can verify', async () => {
    expect(await post('/hooks/position')).toBe(204);
    expect(tally.summary()).toMatch(/position 1 \| verified 1, bad 0/);
  });

  it('refuses a bad signature', async () => {
    expect(await post('/hooks/position', { ...signed(), 'x-service-signature': 't=1,v1=00' })).toBe(401);
    expect(tally.summary()).toMatch(/verified 0, bad 1/);
  });

  it('accepts event types that it does not know, and ignores them', async () => {
    expect(await post('/hooks/geofence_in')).toBe(204);
    expect(tally.summary()).toMatch(/none yet/);
  });

  it('asks for another try while it does not have the secret yet', async () => {
    expect(await post('/hooks/ignition_on')).toBe(503);
  });

  it('takes another port when its own is taken', async () => {
    const options = { port: server.port, eventTypes: [], secretOf: () => undefined, tally, now: Date.now };
    const second = await startSubscriberServer(options);
    expect(second.port).not.toBe(server.port);
    await second.close();
  });
});
