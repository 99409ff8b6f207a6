import type { Traces } from '../tracing/span-recorder.js';

export const NO_TRACES: Traces = Object.freeze({ recorder: null, sampleRatio: 0 });
