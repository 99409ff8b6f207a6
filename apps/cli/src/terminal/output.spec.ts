import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { createProgress, writeText } from './output.js';

describe('progress without a terminal', () => {
  function start(total: number) {
    let nowMs = 5_000;
    const err = new PassThrough();
    const progress = createProgress({ out: new PassThrough(), err }, total, () => nowMs);
    return {
      after(ms: number, done: number): void {
        nowMs += ms;
        progress.update(done, `${String(done)} records`);
      },
      written: () => String(err.read() ?? ''),
    };
  }

  it('says nothing of what takes less than five seconds', () => {
    const { after, written } = start(100);
    after(0, 1);
    after(4_999, 99);
    expect(written()).toBe('');
  });

  it('is a line every five seconds, however often it is updated', () => {
    const { after, written } = start(200);
    for (let second = 1; second <= 17; second++) after(1_000, second * 10);
    expect(written()).toBe('25 % | 50 records\n50 % | 100 records\n75 % | 150 records\n');
  });

  it('ends at 100 %, though more was done than expected', () => {
    const { after, written } = start(10);
    after(5_000, 12);
    expect(written()).toBe('100 % | 12 records\n');
  });

  it('is complete at once when there was nothing to do', () => {
    const { after, written } = start(0);
    after(5_000, 0);
    expect(written()).toBe('100 % | 0 records\n');
  });
});

describe('progress on a terminal', () => {
  const SHOWN = '\x1b[?25h';
  const HIDDEN = '\x1b[?25l';
  const WRAPPED = '\x1b[?7h';

  class RecordedProcess extends EventEmitter {
    readonly pid = 17;
    readonly killed: unknown[] = [];
    kill(...sent: unknown[]): void {
      this.killed.push(sent);
    }
  }

  function start() {
    const host = new RecordedProcess();
    const err = Object.assign(new PassThrough(), { isTTY: true });
    const progress = createProgress({ out: new PassThrough(), err }, 10, () => 0, host);
    return { host, progress, written: () => String(err.read() ?? '') };
  }

  it.each(['SIGINT', 'SIGTERM'] as const)('gives the cursor and the line wrap back before %s ends it', (signal) => {
    const { host, written } = start();
    expect(written()).toContain(HIDDEN);
    host.emit(signal, signal);
    const last = written();
    expect([last.includes(SHOWN), last.includes(WRAPPED)]).toEqual([true, true]);
    expect(host.killed).toEqual([[17, signal]]);
    expect(host.listenerCount(signal)).toBe(0);
  });

  it('leaves signals alone once it has stopped', () => {
    const { host, progress } = start();
    progress.stop();
    expect(host.eventNames()).toEqual([]);
  });
});

describe('results', () => {
  const rename = 'bus \x1b]0;renamed\x07 \x9b2J\r\tend\n';

  async function written(isTTY: boolean): Promise<string> {
    const out = Object.assign(new PassThrough(), { isTTY });
    await writeText(out, rename);
    return String(out.read());
  }

  it('cannot control a terminal', async () => {
    expect(await written(true)).toBe('bus \\u001b]0;renamed\\u0007 \\u009b2J\\u000d\tend\n');
  });

  it('are what they are for a file or a program', async () => {
    expect(await written(false)).toBe(rename);
  });
});
