import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { createTerminalReporter } from './stack-reporter.js';

function build({ isTTY }: { isTTY: boolean }) {
  let written = '';
  let clockMs = 0;
  const stream = Object.assign(
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        written += chunk.toString();
        done();
      },
    }),
    { isTTY },
  );
  const reporter = createTerminalReporter({ stream, now: () => clockMs });
  return { reporter, written: () => written, pass: (ms: number) => (clockMs += ms) };
}

describe('the terminal reporter', () => {
  it('writes plain lines, and only when work is done, when it does not write to a terminal', async () => {
    const { reporter, written, pass } = build({ isTTY: false });
    reporter.note('hello');
    await reporter.during('Starting Kafka', () => Promise.resolve(pass(3_210)));
    expect(written()).toBe('hello\nStarting Kafka: done in 3.2 s\n');
  });

  it('keeps the progress in the last line of a terminal', async () => {
    const { reporter, written } = build({ isTTY: true });
    await reporter.during('Starting Kafka', () => {
      reporter.note('hello');
      return Promise.resolve();
    });
    expect(written()).toContain('hello\n\r\u001B[KStarting Kafka 0.0 s');
    expect(written().endsWith('\r\u001B[K')).toBe(true);
  });

  it('does not report failed work, which its caller does', async () => {
    const { reporter, written } = build({ isTTY: false });
    await expect(reporter.during('Starting Kafka', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(written()).toBe('');
  });
});
