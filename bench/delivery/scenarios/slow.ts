import type { BenchContext } from '../bench-context.js';
import { HEALTHY } from '../sink/behaviour.js';
import { measureThroughput, type ThroughputRun } from './healthy.js';

const SLOW_MS = 200;

/** All endpoints answer after 200 ms: what the number of attempts in flight allows. */
export async function measureSlow(context: BenchContext): Promise<ThroughputRun> {
  const { harness, subscribers } = context;
  const endpoints = subscribers.single.map((_, endpoint) => endpoint);
  await harness.behave(endpoints, { type: 'answer', status: 200, delayMs: SLOW_MS });
  try {
    return await measureThroughput(context, `Every endpoint answers after ${String(SLOW_MS)} ms`, subscribers.single);
  } finally {
    await harness.behave(endpoints, HEALTHY);
  }
}
