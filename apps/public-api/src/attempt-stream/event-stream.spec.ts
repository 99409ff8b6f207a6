import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Response } from 'express';
import { EventStream } from './event-stream.js';

/** What a stream does to its response. */
class WrittenResponse extends EventEmitter {
  text = '';
  readonly req = { socket: Object.assign(new EventEmitter(), { destroyed: false }) };
  isEnded = false;
  isDestroyed = false;
  isFlushed = false;
  hasRoom = true;
  writableNeedDrain = false;
  status = () => this;
  set = () => this;
  get headersSent(): boolean {
    return this.text !== '';
  }
  flushHeaders(): void {
    this.isFlushed = this.text === '';
  }
  write(text: string): boolean {
    this.text += text;
    return this.hasRoom;
  }
  end(): void {
    this.isEnded = true;
  }
  destroy(): void {
    this.isDestroyed = true;
  }
}

let response: WrittenResponse;
let isAllowed: () => Promise<boolean>;
let stream: EventStream;

beforeEach(() => {
  jest.useFakeTimers();
  response = new WrittenResponse();
  isAllowed = () => Promise.resolve(true);
  const options = { stopping: new AbortController().signal, isStillAllowed: () => isAllowed() };
  stream = new EventStream(response as unknown as Response, options);
  stream.begin('0-0');
});
afterEach(() => {
  stream.end();
  jest.useRealTimers();
});

describe('a stream of server-sent events (R-41)', () => {
  it('can be resumed where it began, before its first event', () => {
    expect(response.text).toBe(': open\nid: 0-0\n\n');
  });

  it('sends its headers before it writes, as a HEAD gets no more', () => {
    expect(response.isFlushed).toBe(true);
  });

  it('has an id, a name and one line of JSON per event, whatever the data is', async () => {
    await stream.send([{ id: '1-2', data: { text: 'a\n\nid: 9\n' } }], () => '1-2');
    expect(response.text).toBe(': open\nid: 0-0\n\nid: 1-2\nevent: attempt\ndata: {"text":"a\\n\\nid: 9\\n"}\n\n');
  });

  it('sends something every 15 s, so that nothing in between closes it', async () => {
    await jest.advanceTimersByTimeAsync(45_000);
    expect(response.text).toBe(`: open\nid: 0-0\n\n${': alive\n\n'.repeat(3)}`);
  });

  it('moves the place to resume at past what the filter leaves out', async () => {
    await stream.send([], () => '5-7');
    await jest.advanceTimersByTimeAsync(30_000);
    expect(response.text).toBe(': open\nid: 0-0\n\nid: 5-7\n\n: alive\n\n');
  });

  it('ends when its key has been revoked', async () => {
    isAllowed = () => Promise.resolve(false);
    // With the half second that an answer may be old: within the second of R-42.
    await jest.advanceTimersByTimeAsync(500);
    expect([response.isEnded, stream.signal.aborted]).toEqual([true, true]);
  });

  it('continues while it cannot be checked whether its key is live, such as without the database', async () => {
    isAllowed = () => Promise.reject(new Error('The database is away.'));
    await jest.advanceTimersByTimeAsync(5_000);
    expect([response.isEnded, stream.signal.aborted]).toEqual([false, false]);
    isAllowed = () => Promise.resolve(false);
    await jest.advanceTimersByTimeAsync(500);
    expect(response.isEnded).toBe(true);
  });

  it('waits for a reader without room, and gives one up that takes nothing for half a minute', async () => {
    response.hasRoom = false;
    const first = stream.send([{ id: '1', data: 1 }], () => '1');
    response.emit('drain');
    await first;
    // What it had to wait for before is over.
    await jest.advanceTimersByTimeAsync(40_000);
    expect(response.isDestroyed).toBe(false);
    const second = stream.send([{ id: '2', data: 2 }], () => '2');
    await jest.advanceTimersByTimeAsync(29_999);
    expect(response.isDestroyed).toBe(false);
    await jest.advanceTimersByTimeAsync(2);
    await second;
    expect([response.isDestroyed, stream.signal.aborted]).toEqual([true, true]);
  });

  it('sends nothing for its own sake to a reader that has no room', async () => {
    response.writableNeedDrain = true;
    await jest.advanceTimersByTimeAsync(45_000);
    expect(response.text).toBe(': open\nid: 0-0\n\n');
  });

  it('asks no more whether it is allowed once it has ended', async () => {
    let asked = 0;
    isAllowed = () => Promise.resolve((asked += 1) > 0);
    await jest.advanceTimersByTimeAsync(1_000);
    const before = asked;
    stream.end();
    await jest.advanceTimersByTimeAsync(10_000);
    expect([before > 0, asked]).toEqual([true, before]);
  });

  it('is over when its reader has gone', async () => {
    response.emit('close');
    expect(stream.signal.aborted).toBe(true);
    await stream.send([{ id: '1', data: 1 }], () => '1');
    expect(response.text).toBe(': open\nid: 0-0\n\n');
  });

  it('sends its headers before it writes, as a HEAD gets no more', () => {
    expect(response.isFlushed).toBe(true);
  });
});
