import { describe, expect, it } from '@jest/globals';
import { FleetRotation } from './fleet-rotation.js';

/** Each event has as many bytes as its offset. */
function rotationOf(...events: [fleetId: string, offset: number][]): FleetRotation {
  const rotation = new FleetRotation();
  for (const [fleetId, offset] of events) rotation.push({ offset, fleetId, bytes: offset, deliveries: [].values() });
  return rotation;
}

describe('events that wait by fleet', () => {
  it('count with their bytes until they are removed: reading ahead goes on only below a limit (R-26)', () => {
    const rotation = rotationOf(['a', 100], ['b', 200], ['a', 400]);
    expect(rotation.bytes).toBe(700);
    rotation.removeFirst('a');
    expect(rotation.bytes).toBe(600);
    for (const fleetId of ['b', 'a', 'a', 'unknown']) rotation.removeFirst(fleetId);
    expect([rotation.bytes, rotation.isEmpty]).toEqual([0, true]);
  });

  it('stay in the order of the log within a fleet, while the fleets take turns (R-26, R-28)', () => {
    const rotation = rotationOf(['a', 1], ['a', 2], ['a', 3], ['b', 4], ['c', 5]);
    const taken: [string, number | undefined][] = [];
    for (const fleetId of rotation.turns()) {
      taken.push([fleetId, rotation.first(fleetId)?.offset]);
      rotation.removeFirst(fleetId);
    }
    expect(taken).toEqual([
      ['a', 1],
      ['b', 4],
      ['c', 5],
      ['a', 2],
      ['a', 3],
    ]);
  });

  it('hold the position at the first of them, whatever fleet it is of', () => {
    const rotation = rotationOf(['a', 1], ['b', 2], ['a', 3]);
    rotation.removeFirst('a');
    expect(rotation.firstOffset()).toBe(2);
    rotation.removeFirst('b');
    expect(rotation.firstOffset()).toBe(3);
    rotation.removeFirst('a');
    expect(rotation.firstOffset()).toBeNull();
  });
});
