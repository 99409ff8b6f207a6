import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { patchIdleTimer, patchReceive, patchSharedConnect } from './kafkajs-patches.js';
import { leaseOf } from './response-buffer-pool.js';

class FakeConnection {
  attempts = 0;
  settle: (() => void)[] = [];

  connect(): Promise<unknown> {
    this.attempts += 1;
    return new Promise<void>((resolve) => this.settle.push(resolve));
  }
}

class FakeQueue {
  pending: unknown[] = [];
  scheduled = 0;

  scheduleCheckPendingRequests(): void {
    this.scheduled += 1;
  }
}

describe('the patches of kafkajs', () => {
  it('let concurrent requests share one attempt to connect, and a later one try again', async () => {
    patchSharedConnect(FakeConnection.prototype);
    patchSharedConnect(FakeConnection.prototype);
    const [connection, other] = [new FakeConnection(), new FakeConnection()];
    const both = [connection.connect(), connection.connect()];
    void other.connect();
    expect([connection.attempts, other.attempts]).toEqual([1, 1]);
    for (const settle of connection.settle) settle();
    await Promise.all(both);
    void connection.connect();
    expect(connection.attempts).toBe(2);
  });

  it('arm the timer of a queue only when something waits in it', () => {
    patchIdleTimer(FakeQueue.prototype);
    const queue = new FakeQueue();
    queue.scheduleCheckPendingRequests();
    expect(queue.scheduled).toBe(0);
    queue.pending.push('a request');
    queue.scheduleCheckPendingRequests();
    expect(queue.scheduled).toBe(1);
  });

  it('put responses together, however the network cuts them, and begin anew with each socket', () => {
    patchReceive(FakeReceiver.prototype);
    const responses = fc.array(fc.uint8Array({ minLength: 4, maxLength: 300 }), { maxLength: 8 });
    const cuts = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(responses, cuts, fc.nat({ max: 40 }), (sent, sizes, lostBytes) => {
        const receiver = new FakeReceiver();
        // The beginning of a response whose rest never came.
        receiver.processData(framed(Buffer.alloc(100)).subarray(0, lostBytes));
        receiver.socket = receiver.newSocket();
        const stream = Buffer.concat(sent.map((bytes) => framed(Buffer.from(bytes))));
        for (let at = 0, turn = 0; at < stream.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          receiver.processData(stream.subarray(at, (at += size)));
        }
        expect(receiver.got).toEqual(sent.map((bytes) => Buffer.from(bytes)));
      }),
    );
  });

  it('put large responses into memory that they give back, and small ones into their own', () => {
    patchReceive(FakeReceiver.prototype);
    const payloads: Buffer[] = [];
    const receiver = new FakeReceiver();
    receiver.requestQueue.fulfillRequest = ({ payload }) => void payloads.push(payload);
    for (const size of [300 * 1024, 1_000]) {
      const response = framed(Buffer.alloc(size));
      receiver.processData(response.subarray(0, 500));
      receiver.processData(response.subarray(500));
    }
    expect(payloads.map((payload) => leaseOf(payload) !== null)).toEqual([true, false]);
  });

  it('know the alert of a port that speaks TLS, and make no room for 350 MB', () => {
    patchReceive(FakeReceiver.prototype);
    const receiver = new FakeReceiver();
    receiver.processData(Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]));
    expect(receiver.destroyed.map(String)).toEqual([expect.stringContaining('speaks TLS')]);
  });

  it('close a connection to what is no broker', () => {
    patchReceive(FakeReceiver.prototype);
    const receiver = new FakeReceiver();
    receiver.processData(Buffer.from('HTTP/1.1 400 Bad Request'));
    expect(receiver.destroyed).toHaveLength(1);
  });

  it('leave the bytes of an authentication to kafkajs', () => {
    patchReceive(FakeReceiver.prototype);
    const receiver = new FakeReceiver();
    receiver.authHandlers = {};
    receiver.processData(Buffer.from('any'));
    expect([receiver.left, receiver.got]).toEqual([['any'], []]);
  });
});

const framed = (response: Buffer): Buffer => {
  const size = Buffer.alloc(4);
  size.writeInt32BE(response.length);
  return Buffer.concat([size, response]);
};

class FakeReceiver {
  authHandlers: unknown = null;
  destroyed: Error[] = [];
  socket = this.newSocket();
  readonly got: Buffer[] = [];
  readonly left: string[] = [];
  readonly requestQueue = {
    fulfillRequest: ({ size, correlationId, payload }: { size: number; correlationId: number; payload: Buffer }) => {
      const head = Buffer.alloc(4);
      head.writeInt32BE(correlationId);
      this.got.push(Buffer.concat([head, payload]));
      expect(size).toBe(payload.length + 4);
    },
  };

  newSocket(): { destroy(error: Error): void } {
    return { destroy: (error) => this.destroyed.push(error) };
  }

  processData(chunk: Buffer): void {
    this.left.push(chunk.toString());
  }
}
