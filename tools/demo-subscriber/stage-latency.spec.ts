import { describe, expect, it } from '@jest/globals';
import { createStageLatency, type StageLatency, type TracedEvent } from './stage-latency.js';

const position: TracedEvent = { deviceId: 'van-1', eventType: 'position', eventTimeMs: 1_000 };

function passThrough(latency: StageLatency, event: TracedEvent, pingAtMs: number): void {
  latency.pingAppended(event, pingAtMs);
  latency.eventAppended(event, pingAtMs + 5);
  latency.deliveryAppended(event, pingAtMs + 9);
  latency.received(event, pingAtMs + 15);
}

describe('The stage latency', () => {
  it('is unknown before the first webhook', () => expect(createStageLatency().summary()).toBeNull());

  it('counts from the append of the ping, even if the vehicle had held it back', () => {
    const latency = createStageLatency();
    passThrough(latency, position, 81_000);
    expect(latency.summary()).toEqual({ p50Ms: 15, p99Ms: 15, stagesMs: { processor: 5, 'fan-out': 4, sender: 6 } });
  });

  it('waits for records that are read after the webhook has arrived', () => {
    const latency = createStageLatency();
    latency.received(position, 1_020);
    expect(latency.summary()).toBeNull();
    latency.deliveryAppended(position, 1_012);
    latency.eventAppended(position, 1_006);
    latency.pingAppended(position, 1_002);
    expect(latency.summary()).toMatchObject({ p50Ms: 18, stagesMs: { processor: 4, 'fan-out': 6, sender: 8 } });
  });

  it('takes the first append of a repeated ping', () => {
    const latency = createStageLatency();
    latency.pingAppended(position, 1_000);
    latency.pingAppended(position, 5_000);
    passThrough(latency, position, 1_000);
    expect(latency.summary()?.p50Ms).toBe(15);
  });

  it('leaves out events whose time is not that of the ping that caused them', () => {
    const latency = createStageLatency();
    passThrough(latency, { ...position, eventType: 'route_started' }, 1_000);
    expect(latency.summary()).toBeNull();
  });
});
