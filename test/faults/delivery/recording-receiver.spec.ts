import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { formatSigningSecret, signatureHeaders } from '@waypost/domain';
import { choosePort } from '../../../tools/dev-stack/free-port.js';
import { until } from '../../support/until.js';
import type { Receipt } from './judge/observations.js';
import { bodyHash } from './judge/observations.js';
import { createRecordingReceiver, type RecordingReceiver } from './recording-receiver.js';

const secret = Buffer.alloc(32, 3);
const endpoints = (['healthy', 'first-503', 'slow'] as const).map((behavior) => ({
  path: `/${behavior}`,
  behavior,
  subscriptionId: 'subscription-1',
  secret: formatSigningSecret(secret),
  nextSecret: null,
  needsToken: false,
}));
const body = JSON.stringify({ eventId: 'event-1' });

let folder: string;
let port: number;
let receiver: RecordingReceiver;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recording-receiver-'));
  port = await choosePort();
  receiver = createRecordingReceiver(Date.now);
  await receiver.handle({ type: 'open', port, file: join(folder, 'receipts'), endpoints });
});
afterEach(async () => {
  await receiver.handle({ type: 'close' });
  await rm(folder, { recursive: true, force: true });
});

async function post(path: string, attempt: number, sent = body, changed: Record<string, string> = {}): Promise<number> {
  const headers = {
    ...signatureHeaders({ eventId: 'event-1', body, secrets: [secret], attempt, nowMs: Date.now() }),
    'content-type': 'application/json',
    'x-service-subscription-id': 'subscription-1',
    traceparent: 'as it came',
    ...changed,
  };
  const answer = await fetch(`http://127.0.0.1:${String(port)}${path}`, { method: 'POST', headers, body: sent });
  return answer.status;
}

/** After this no more is written. */
async function receipts(): Promise<Receipt[]> {
  await receiver.handle({ type: 'save' });
  return written();
}

async function written(): Promise<Receipt[]> {
  const lines = (await readFile(join(folder, 'receipts'), 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Receipt);
}

describe('the recording receiver', () => {
  it('answers by endpoint and attempt number, and writes down each POST with its caller', async () => {
    expect([await post('/first-503', 1), await post('/first-503', 1), await post('/first-503', 2)]).toEqual([
      503, 503, 200,
    ]);
    const common = { path: '/first-503', eventId: 'event-1', source: '127.0.0.1', bodyHash: bodyHash(body) };
    expect(await receipts()).toMatchObject([
      { ...common, attempt: 1, status: 503, requestProblem: null },
      { ...common, attempt: 1, status: 503, requestProblem: null },
      { ...common, attempt: 2, status: 200, requestProblem: null, traceparent: 'as it came' },
    ]);
  });

  it('names what is wrong with a signature, and hashes the received bytes', async () => {
    const other = JSON.stringify({ eventId: 'event-1', added: true });
    await post('/healthy', 1, other);
    const [receipt] = await receipts();
    expect(receipt?.requestProblem).toMatch(/^standardwebhooks: /);
    expect(receipt?.bodyHash).toBe(bodyHash(other));
  });

  it.each([
    ['content-type', 'another content type'],
    ['x-service-subscription-id', 'X-Service-Subscription-Id of another one'],
  ])('names another %s', async (header, problem) => {
    await post('/healthy', 1, body, { [header]: 'other' });
    expect(await receipts()).toMatchObject([{ requestProblem: problem }]);
  });

  it('writes down when it answered, and the time that was signed', async () => {
    await post('/slow', 1);
    const [receipt] = await receipts();
    const { receivedMs = 0, signedMs = 0, answeredMs = 0 } = receipt ?? {};
    expect(answeredMs).toBeGreaterThanOrEqual(receivedMs + 290);
    expect(signedMs % 1_000).toBe(0);
    expect(signedMs).toBeGreaterThan(Date.now() - 60_000);
  });

  it('writes POSTs in the order in which they came, whichever was answered first', async () => {
    const slow = post('/slow', 1);
    await until(() => expect(receiver.handle({ type: 'count' })).toMatchObject({ posts: 1 }));
    await post('/healthy', 1);
    await slow;
    expect((await receipts()).map(({ path }) => path)).toEqual(['/slow', '/healthy']);
  });

  it('distinguishes a POST whose caller left before the response from one that was cut off', async () => {
    const head = `POST /slow HTTP/1.1\r\nhost: x\r\nwebhook-id: event-1\r\nx-service-attempt: 1\r\ncontent-length: 10\r\n\r\n`;
    for (const [index, text] of [`${head}01234`, `${head}0123456789`].entries()) {
      const socket = connect(port, '127.0.0.1').setNoDelay();
      socket.write(text);
      await until(() => expect(receiver.handle({ type: 'count' })).toMatchObject({ posts: index + 1 }));
      socket.destroy();
    }
    // They are written in the order in which they came: with the second, the first would be there.
    await until(async () => expect(await written()).not.toEqual([]));
    expect((await receipts()).map(({ status, bodyHash: hash }) => ({ status, hash }))).toEqual([
      { status: null, hash: bodyHash('0123456789') },
    ]);
  });
});
