import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../test/support/until.js';
import { choosePort } from '../../../tools/dev-stack/free-port.js';
import { type Certificate, certificateIn } from '../stack/receivers.js';
import { NumberTable } from '../workers/number-table.js';
import { type Behavior, HEALTHY } from './behaviors.js';
import { createOrigin, type Origin, RECEIPT, RECEIPT_WIDTH, secureContextOf } from './origin.js';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

function postOf({ attempt = 1, id = '00000001' } = {}): string {
  const head = [`x-service-attempt: ${String(attempt)}`, `webhook-id: ${id}-1111`, 'content-length: 2'];
  return `POST /hook/0 HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n{}`;
}

/** What a caller sees of one connection. */
class Caller {
  readonly chunks: string[] = [];
  end: 'open' | 'closed' | 'reset' = 'open';

  constructor(readonly socket: Socket) {
    socket.setEncoding('latin1').on('data', (text: string) => this.chunks.push(text));
    socket.on('end', () => (this.end = 'closed'));
    socket.on('error', () => (this.end = 'reset'));
  }

  get text(): string {
    return this.chunks.join('');
  }

  /** What has come some time after the request; for callers that get too little. */
  async post(request = postOf(), ms = 100): Promise<string> {
    this.chunks.length = 0;
    this.socket.write(request);
    await sleep(ms);
    return this.text;
  }

  async answer(request = postOf(), bytes = 1): Promise<string> {
    this.chunks.length = 0;
    this.socket.write(request);
    await until(() => this.text.length >= bytes && this.text.includes('\r\n\r\n'));
    return this.text;
  }
}

describe('An endpoint of the sink', () => {
  const behaviors: Behavior[] = [];
  const callers: Caller[] = [];
  let origin: Origin;
  let receipts: NumberTable;
  let port = 0;
  let certificate: Certificate;

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sink-'));
    certificate = certificateIn(join(folder, 'key'), join(folder, 'cert'));
    await rm(folder, { recursive: true });
  });
  beforeEach(async () => {
    port = await choosePort();
    receipts = NumberTable.empty(RECEIPT_WIDTH);
    const secureContext = secureContextOf(certificate);
    origin = createOrigin({ port, receipts, behaviors, now: Date.now, onAnswered: () => undefined, secureContext });
    await origin.open();
  });
  afterEach(async () => {
    for (const { socket } of callers.splice(0)) socket.destroy();
    await origin.close();
  });

  async function callerOf(behavior: Behavior, scheme: 'http' | 'https' = 'http'): Promise<Caller> {
    behaviors[0] = behavior;
    const socket =
      scheme === 'http'
        ? connect({ port, host: '127.0.0.1' })
        : connectTls({ port, host: '127.0.0.1', ca: certificate.cert });
    await once(socket, scheme === 'http' ? 'connect' : 'secureConnect');
    const caller = new Caller(socket);
    callers.push(caller);
    return caller;
  }

  const statusOf = (row: number): number => receipts.get(row, RECEIPT.status);

  it('that is silent takes the request and sends nothing', async () => {
    const caller = await callerOf({ type: 'silent' });
    expect([await caller.post(), caller.end, statusOf(0)]).toEqual(['', 'open', 0]);
  });

  it('can send a status line and nothing more', async () => {
    const caller = await callerOf({ type: 'status_only' });
    expect([await caller.post(), caller.end, statusOf(0)]).toEqual(['HTTP/1.1 200 OK\r\n', 'open', 200]);
  });

  it('can send a byte every 250 ms', async () => {
    const caller = await callerOf({ type: 'trickle' });
    await caller.post(postOf(), 0);
    await until(() => caller.text.length >= 3);
    expect([caller.text.slice(0, 3), caller.chunks.length > 1, caller.end]).toEqual(['HTT', true, 'open']);
  });

  it('can send a reason phrase of 16 KiB', async () => {
    const caller = await callerOf({ type: 'long_reason' });
    const [line = ''] = (await caller.answer()).split('\r\n');
    expect([line.slice(0, 15), line.length]).toEqual(['HTTP/1.1 200 xx', 13 + 16_384]);
  });

  it('can send TLS records of one byte', async () => {
    const caller = await callerOf({ type: 'one_byte_writes' }, 'https');
    expect(await caller.answer()).toBe(OK);
    expect(caller.chunks).toEqual(OK.split(''));
  });

  it('can send a page of 64 KiB and keep the connection', async () => {
    const caller = await callerOf({ type: 'page' });
    const whole = 'HTTP/1.1 200 OK\r\ncontent-length: 65536\r\n\r\n'.length + 65_536;
    const lengths = [(await caller.answer(postOf(), whole)).length, (await caller.answer(postOf(), whole)).length];
    expect(lengths).toEqual([whole, whole]);
  });

  it('can close the connection after each answer', async () => {
    const caller = await callerOf({ type: 'close' }, 'https');
    expect(await caller.answer()).toContain('connection: close');
    await until(() => expect(caller.end).toBe('closed'));
    expect(statusOf(0)).toBe(200);
  });

  it('can reset the connection instead of an answer', async () => {
    const caller = await callerOf({ type: 'reset' });
    await caller.post(postOf(), 0);
    await until(() => expect(caller.end).toBe('reset'));
    expect([caller.text, statusOf(0)]).toEqual(['', 0]);
  });

  it('can close a kept connection when the next request comes', async () => {
    const caller = await callerOf({ type: 'close_on_reuse' });
    expect([await caller.answer(), caller.end]).toEqual([OK, 'open']);
    await caller.post(postOf(), 0);
    await until(() => expect(caller.end).toBe('closed'));
    expect(caller.text).toBe('');
    expect([statusOf(0), statusOf(1)]).toEqual([200, 0]);
  });

  it('can send a 408 and close when a connection is idle, but not between requests', async () => {
    const caller = await callerOf({ type: 'idle_408' });
    caller.socket.write(postOf() + postOf());
    await until(() => expect(caller.end).toBe('closed'));
    expect(caller.text).toBe(`${OK}${OK}HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n`);
  });

  it('can answer late', async () => {
    const caller = await callerOf({ type: 'answer', status: 200, delayMs: 80 });
    const askedAt = performance.now();
    expect(await caller.answer()).toBe(OK);
    expect(performance.now() - askedAt).toBeGreaterThanOrEqual(79);
  });

  it('can answer some first attempts with another status', async () => {
    const caller = await callerOf({ type: 'answer', status: 503, delayMs: 0, every: 10 });
    const lines: string[] = [];
    for (const request of [postOf({ id: '0000000a' }), postOf({ id: '0000000a', attempt: 2 }), postOf()])
      lines.push((await caller.answer(request)).slice(9, 12));
    expect(lines).toEqual(['503', '200', '200']);
  });

  it('refuses connections while its port is closed', async () => {
    await origin.close();
    await expect(callerOf(HEALTHY)).rejects.toThrow('ECONNREFUSED');
  });
});
