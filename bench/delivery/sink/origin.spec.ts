import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { holdsFor, until } from '../../../test/support/until.js';
import { choosePort } from '../../../tools/dev-stack/free-port.js';
import { NumberTable } from '../workers/number-table.js';
import { type Behavior, HEALTHY } from './behaviors.js';
import { createOrigin, type Origin, RECEIPT, RECEIPT_WIDTH, RequestReader, type SinkRequest } from './origin.js';

const POST = 'POST /hook/0 HTTP/1.1\r\nx-service-attempt: 2\r\ncontent-length: 18\r\n\r\nbench-000000000009';

describe('An origin of the sink', () => {
  const behaviors: Behavior[] = [];
  let origin: Origin;
  let receipts: NumberTable;
  let port = 0;
  beforeEach(async () => {
    port = await choosePort();
    behaviors[0] = HEALTHY;
    receipts = NumberTable.empty(RECEIPT_WIDTH);
    origin = createOrigin({ port, receipts, behaviors, now: () => 1_234, onAnswered: () => undefined });
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
    behaviors[0] = { type: 'answer', status: 503, delayMs: 0 };
    expect(await answerTo(socket)).toBe('HTTP/1.1 503 Service Unavailable');
    socket.destroy();
  });

  it('does not count an answer to a caller that is gone', async () => {
    behaviors[0] = { type: 'answer', status: 200, delayMs: 60 };
    const socket = await connected();
    socket.write(POST);
    await until(() => expect(row()).toEqual([9, 0, 2, 0, 1_234]));
    socket.destroy();
    await holdsFor(100, () => expect(row()).toEqual([9, 0, 2, 0, 1_234]));
  });

  it('remembers the requests that it never answers', async () => {
    behaviors[0] = { type: 'silent' };
    const socket = await connected();
    socket.write(POST);
    await until(() => expect(row()).toEqual([9, 0, 2, 0, 1_234]));
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

function requestText(endpoint: number, attempt: number, body: string): string {
  return [
    `POST /hook/${String(endpoint)} HTTP/1.1`,
    'Host: 127.0.0.1:20000',
    'webhook-id: 00ff00ff-1111-5111-8111-111111111111',
    `x-service-attempt: ${String(attempt)}`,
    `Content-Length: ${String(Buffer.byteLength(body))}`,
    '',
    body,
  ].join('\r\n');
}

function body(event: string): string {
  return `{"eventData":{"deviceId":"bench-${event}","driverId":"ü"}}`;
}

function readAll(chunks: readonly Buffer[]): SinkRequest[] {
  const reader = new RequestReader();
  const found: SinkRequest[] = [];
  for (const chunk of chunks) reader.read(chunk, (request) => found.push(request));
  return found;
}

describe('RequestReader', () => {
  const bytes = Buffer.from(requestText(7, 1, body('000000000042')) + requestText(99, 5, body('999999999999')));
  const expected = [
    { endpoint: 7, attempt: 1, idHead: 0x00ff00ff, event: 42 },
    { endpoint: 99, attempt: 5, idHead: 0x00ff00ff, event: 999_999_999_999 },
  ];

  it('reads several requests of one connection that come at once', () => {
    expect(readAll([bytes])).toEqual(expected);
  });

  it('reads them however they are split', () => {
    for (let cut = 0; cut <= bytes.length; cut += 1)
      expect(readAll([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(expected);
    expect(readAll(Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(expected);
  });

  it('gives -1 for the event of a body that carries none', () => {
    expect(readAll([Buffer.from(requestText(1, 1, '{}'))])).toEqual([{ ...expected[0], endpoint: 1, event: -1 }]);
  });

  it('refuses a request whose length it cannot know', () => {
    expect(() => readAll([Buffer.from('POST /hook/1 HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n')])).toThrow(
      'without content-length',
    );
  });
});
