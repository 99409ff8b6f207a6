import { describe, expect, it } from '@jest/globals';
import { BootError } from '../boot-error.js';
import { type Environment, parseConfig } from './parse-config.js';
import { tracesConfig } from './traces-config.js';

function read(env: Environment) {
  return parseConfig(tracesConfig('webhook-delivery'), env);
}

describe('the configuration of traces', () => {
  it('exports nothing and samples nothing by default', () => {
    expect(read({})).toEqual({ serviceName: 'webhook-delivery', url: undefined, sampleRatio: 0 });
  });

  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, 'http://collector:4318/v1/traces'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector/otlp/' }, 'https://collector/otlp/v1/traces'],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:4318/here' }, 'http://traces:4318/here'],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://all:4318', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:4318/here' },
      'http://traces:4318/here',
    ],
  ])('takes the address as OpenTelemetry defines it: %j', (env, url) => expect(read(env).url).toBe(url));

  it.each(['0', '1', '0.01', '1e-3'])('takes the ratio %s', (ratio) => {
    expect(read({ WAYPOST_TRACE_SAMPLE_RATIO: ratio }).sampleRatio).toBe(Number(ratio));
  });

  it.each([
    ...['-0.1', '1.1', 'all', ' '].map((ratio) => ({ WAYPOST_TRACE_SAMPLE_RATIO: ratio })),
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
  ])('refuses %j', (env) => expect(() => read(env)).toThrow(BootError));
});
