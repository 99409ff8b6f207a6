import { describe, expect, it } from '@jest/globals';
import type { DevicePath } from '@waypost/client';
import { vehicleMarksOf } from './vehicle-mark.js';

function path(label: string, ...points: readonly (readonly [minute: number, valid: boolean])[]): DevicePath {
  return {
    device_id: label,
    points: points.map(([minute, valid]) => ({
      time: `2026-03-20T12:0${String(minute)}:00.000Z`,
      latitude: 52,
      longitude: minute,
      valid,
    })),
  };
}

describe('the vehicles of a map', () => {
  it('stand where they were last, each once, also where a page ends among their points', () => {
    const paths = [path('van-1', [1, true], [2, false]), path('van-2', [1, true]), path('van-2', [3, true])];
    expect(vehicleMarksOf({ items: paths, hasMore: false }).map(({ label, longitude }) => [label, longitude])).toEqual([
      ['van-1', 1],
      ['van-2', 3],
    ]);
  });

  it('leave out the last one where there are more points, which may be of it', () => {
    const paths = [path('van-1', [1, true]), path('van-2', [1, true]), path('van-2', [3, true])];
    expect(vehicleMarksOf({ items: paths, hasMore: true }).map(({ label }) => label)).toEqual(['van-1']);
  });

  it('leave out those without a place that the tracker vouches for', () => {
    expect(vehicleMarksOf({ items: [path('van-1', [1, false]), path('van-2')], hasMore: false })).toEqual([]);
  });
});
