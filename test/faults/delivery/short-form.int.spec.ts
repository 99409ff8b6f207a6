import { describe, expect, it } from '@jest/globals';
import { requireTestStack } from '../../support/test-stack.js';
import { faultSuiteVerdict } from '../shared/suite-verdict.js';
import type { DeliveryFaultRunResult } from './fault-run.js';

const { registryUrl } = requireTestStack();

describe('deliveries under faults, short form (R-22, R-24, R-25)', () => {
  it('are complete, in order and on time, and repeated only where a process was killed, stopped or cut off from its broker', async () => {
    // Its schedule has what the title names.
    const load = ['--minutes', '0.2', '--rate', '300', '--instances', '3'];
    const flags = ['--seed', '88', ...load, '--registry', registryUrl];
    const verdict = await faultSuiteVerdict<DeliveryFaultRunResult>('test/faults/delivery/main.ts', flags);

    expect(verdict.problems).toEqual([]);
    const made = Object.keys(verdict.faults);
    expect(made).toEqual(expect.arrayContaining(['broker-full', 'network-cut', 'processor-kill', 'processor-pause']));
    expect(verdict.injected).toBeGreaterThanOrEqual(3);
    expect(verdict.replayed).toBeGreaterThan(10);
    expect(verdict.expected).toBeGreaterThan(2_000);
    expect(verdict.posts).toBeGreaterThan(verdict.expected);
    // Without any, nothing could be late. There are calm ones before the first fault, and long after the last.
    expect(Object.keys(verdict.judgedStarts)).toEqual(expect.arrayContaining(['first attempt', 'attempt 5']));
  }, 300_000);
});
