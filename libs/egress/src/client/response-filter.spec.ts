import { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ResponseFilter, type ResponseProgress } from './response-filter.js';

interface Read {
  readonly passed: string;
  readonly error: string | undefined;
  readonly progress: ResponseProgress;
}

/** Sends the pieces through a filter as a socket would, and reads all that it passes. */
async function filter(pieces: readonly string[], { maxHeadBytes = 1_000, maxBodyBytes = 1_000 } = {}): Promise<Read> {
  const socket = new Duplex({
    read: () => undefined,
    write: (_chunk, _encoding, done) => {
      done();
    },
  });
  let error: string | undefined;
  socket.on('error', ({ message }) => (error = message));
  const responses = new ResponseFilter({ maxHeadBytes });
  const watched = responses.watch(socket as Socket);
  const progress = responses.begin({ maxBodyBytes });
  let passed = '';
  for (const piece of pieces) {
    if (socket.destroyed) break;
    socket.push(piece, 'latin1');
    for (let chunk = watched.read() as Buffer | null; chunk !== null; chunk = watched.read() as Buffer | null) {
      passed += chunk.toString('latin1');
    }
  }
  await new Promise((resolve) => setImmediate(resolve));
  return { passed, error, progress };
}

function split(text: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((left, right) => left - right);
  return [0, ...places]
    .map((from, index) => text.slice(from, places[index] ?? text.length))
    .filter((piece) => piece !== '');
}

const FINAL = 'HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nok';

describe('ResponseFilter', () => {
  it('passes a response unchanged, announcements left out, however it is cut into pieces', async () => {
    const announcements = fc.array(
      fc.constantFrom('HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nlink: <a>\r\nlink: <b>\r\n\r\n'),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(announcements, fc.array(fc.nat(), { maxLength: 12 }), async (before, cuts) => {
        const { passed, error, progress } = await filter(split(before.join('') + FINAL, cuts));

        expect([passed, error, progress.statusCode]).toEqual([FINAL, undefined, 201]);
      }),
    );
  });

  it('knows the status with the end of its line, before any header', async () => {
    expect((await filter(['HTTP/1.1 201 Created\r'])).progress.statusCode).toBeUndefined();
    expect((await filter(['HTTP/1.1 201 Created\r', '\n'])).progress.statusCode).toBe(201);
    expect((await filter(['HTTP/1.1 100 Continue\r\n'])).progress.statusCode).toBeUndefined();
  });

  it('passes nothing of a head that is not complete', async () => {
    expect(await filter([FINAL.slice(0, -4)])).toMatchObject({ passed: '', error: undefined });
  });

  it('takes a head up to the bound and none beyond it, announcements included', async () => {
    const head = (length: number): string => {
      const bare = 'HTTP/1.1 200 OK\r\nx: \r\n\r\n';
      return bare.replace('x: ', `x: ${'y'.repeat(length - bare.length)}`);
    };

    expect(await filter([head(1_000)])).toMatchObject({ error: undefined });
    expect(await filter([head(1_001)])).toMatchObject({ error: 'the head of the response is too long' });
    expect(await filter(['HTTP/1.1 100 Continue\r\n\r\n', head(1_000)])).toMatchObject({
      error: 'the head of the response is too long',
    });
  });

  it('takes eight announcements and not a ninth', async () => {
    const many = (count: number): string => 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(count) + FINAL;

    expect(await filter([many(8)])).toMatchObject({ passed: FINAL });
    expect(await filter([many(9)])).toMatchObject({ passed: '', error: 'too many announcements (1xx)' });
  });

  it('counts the body from its first byte, also when it comes with the head', async () => {
    const head = 'HTTP/1.1 200 OK\r\n\r\n';

    expect(await filter([`${head}123`, '45'], { maxBodyBytes: 5 })).toMatchObject({ error: undefined });
    expect(await filter([`${head}123`, '456'], { maxBodyBytes: 5 })).toMatchObject({
      error: 'the body of the response is too long',
    });
    expect(await filter([`${head}123456`], { maxBodyBytes: 5 })).toMatchObject({
      error: 'the body of the response is too long',
    });
  });

  it('ends the socket when something comes that nobody asked for', async () => {
    const socket = new Duplex({ read: () => undefined });
    const errors: string[] = [];
    socket.on('error', ({ message }) => errors.push(message));
    const watched = new ResponseFilter({ maxHeadBytes: 100 }).watch(socket as Socket);

    socket.push(FINAL);
    expect(watched.read()).toBeNull();
    await new Promise((resolve) => setImmediate(resolve));

    expect(errors).toEqual(['the response goes on after its end']);
  });

  it('ends the socket when a response goes on after the exchange has its end', async () => {
    const socket = new Duplex({ read: () => undefined });
    const errors: string[] = [];
    socket.on('error', ({ message }) => errors.push(message));
    const responses = new ResponseFilter({ maxHeadBytes: 100 });
    const watched = responses.watch(socket as Socket);
    responses.begin({ maxBodyBytes: 1_000 });
    socket.push(FINAL);
    expect(String(watched.read())).toBe(FINAL);

    responses.end();
    socket.push('more');
    expect(watched.read()).toBeNull();
    await new Promise((resolve) => setImmediate(resolve));

    expect(errors).toEqual(['the response goes on after its end']);
  });

  it('refuses any text that is not a status line of HTTP/1.x, and never passes a byte of it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary-ascii', minLength: 1 }), async (text) => {
        fc.pre(!'HTTP/1.'.startsWith(text.slice(0, 7)));
        expect(await filter([text])).toMatchObject({ passed: '', error: 'the answer is not HTTP/1.1' });
      }),
    );
  });
});
