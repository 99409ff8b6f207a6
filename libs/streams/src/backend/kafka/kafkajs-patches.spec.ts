import { describe, expect, it } from '@jest/globals';
import { patchIdleTimer, patchSharedConnect } from './kafkajs-patches.js';

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
});
