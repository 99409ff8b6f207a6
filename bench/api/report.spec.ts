import { describe, expect, it } from '@jest/globals';
import type { CallResult } from './measure/measure-call.js';
import { callText, jsonLine, reportMarkdown } from './report.js';

const RESULT: CallResult = {
  ...{ call: 'v2-page', requestsPerSecond: 1_234.56, p50Ms: 25, p99Ms: 61, kibPerAnswer: 92.04 },
  ...{ cpuMs: { api: 1.2345, postgres: 0.5, load: 0.2 }, foreignCores: 0.123 },
};

describe('the report of the benchmark', () => {
  it('is one JSON object a run', () => {
    const figures = { requestsPerSecond: 1235, p50Ms: 25, p99Ms: 61, apiCpuMs: 1.234, postgresCpuMs: 0.5 };
    expect(JSON.parse(jsonLine([RESULT]))).toEqual({ bench: 'api', v2Page: { ...figures, foreignCores: 0.12 } });
  });

  it('shows each call in a line', () => {
    expect(callText(RESULT)).toContain('v2-page: 1,235 requests/s, p50 25 ms, p99 61 ms');
  });

  it('has a row for each call', () => {
    const text = reportMarkdown([RESULT], ['a machine']);
    expect(text).toContain('- a machine');
    expect(text).toMatch(/\| v2, page of 100 \| 1,235 \| 25 \| 61 \| 1\.23 \| 0\.50 \| 92 \|/);
  });
});
