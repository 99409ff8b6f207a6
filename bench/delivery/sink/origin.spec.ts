import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { choosePort } from '../../../tools/dev-stack/free-port.js';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { NumberTable } from '../workers/number-table.js';
import { HEALTHY, type Behaviour } from './behaviour.js';
import { createOrigin, type Origin } from './origin.js';
import { RECEIPT, RECEIPT_WIDTH } from './receipt.js';

const POST = 'POST /hook/0 HTTP/1.1\r\nx-service-attempt: 2\r\ncontent-length: 18\r\n\r\nbench-000000000009';

describe('An origin of the sink', () => {
  const behaviours: Behaviour[] = [];
  let origin: Origin;
  let receipts: NumberTable;
  let port = 0;
  beforeEach(async () => {
    port = await choosePort();
    behaviours[0] = HEALTHY;
    receipts = NumberTable.empty(RECEIPT_WIDTH);
    origin = createOrigin({ port, receipts, behaviours, now: () => 1_234, onAnswered: () => undefined });
    await origin.open();
  });
  afterEach(() => origin.close());

  async function connected(): Promise<Socket> {
    const socket = connect({ port, host: '127.0.0.1' });
    await once(socket, 'connect');
    return socket;
  }

  async function answerTo(socket: Socket): Promise<string> {
    socket.write(POST);
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    return bytes.toString('latin1').split('\r\n')[0] ?? '';
  }

  const row = (): number[] =>
    [RECEIPT.event, RECEIPT.endpoint, RECEIPT.attempt, RECEIPT.status, RECEIPT.receivedMs].map((column) =>
      receipts.get(0, column),
    );

  it('answers and remembers both the request and the answer', async () => {
    const socket = await connected();
    expect(await answerTo(socket)).toBe('HTTP/1.1 200 OK');
    expect(row()).toEqual([9, 0, 2, 200, 1_234]);
    behaviours[0] = { type: 'answer', status: 503, delayMs: 0 };
    expect(await answerTo(socket)).toBe('HTTP/1.1 503 Service Unavailable');
    socket.destroy();
  });

  it('does not count an answer to a caller that is gone', async () => {
    behaviours[0] = { type: 'answer', status: 200, delayMs: 60 };
    const socket = await connected();
    socket.write(POST);
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(row()).toEqual([9, 0, 2, 0, 1_234]);
  });

  it('remembers the requests that it never answers', async () => {
    behaviours[0] = { type: 'silent' };
    const socket = await connected();
    socket.write(POST);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(row()).toEqual([9, 0, 2, 0, 1_234]);
    socket.destroy();
  });

  it('refuses connections while it is closed, and takes them again', async () => {
    await origin.close();
    await expect(connected()).rejects.toThrow('ECONNREFUSED');
    await origin.open();
    const socket = await connected();
    expect(await answerTo(socket)).toBe('HTTP/1.1 200 OK');
    socket.destroy();
  });
});
