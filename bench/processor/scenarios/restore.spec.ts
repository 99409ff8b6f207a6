import { describe, expect, it } from '@jest/globals';
import { restoreWorkMs } from './restore.js';

describe('The time that a log calls restoring', () => {
  it('goes from the first beginning to the last end over all partitions of ours', () => {
    const log = [
      '{"level":"info","time":5000,"event":"group_joined"}',
      '{"level":"info","time":5300,"durationMs":200,"event":"store_restored"}',
      '{"level":"info","time":5900,"durationMs":850,"event":"store_restored"}',
    ].join('\n');
    expect(restoreWorkMs('ours', log)).toBe(850);
  });

  it('goes from the first beginning to the last end over all partitions of theirs', () => {
    const log = [
      '100 ms state RUNNING',
      '400 ms restoring a-0',
      '450 ms restoring a-1',
      '700 ms restored 5 from a-0',
      '900 ms restored 5 from a-1',
    ];
    expect(restoreWorkMs('theirs', log.join('\n'))).toBe(500);
  });

  it('is not known of a log without a restore', () => {
    expect(restoreWorkMs('ours', '{"event":"app_started"}\n')).toBeNull();
    expect(restoreWorkMs('theirs', '100 ms state RUNNING\n')).toBeNull();
  });
});
