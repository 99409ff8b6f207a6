import { describe, expect, it } from '@jest/globals';
import { checkpointMetadata, outputsOf } from './fan-out-checkpoint.js';

describe('the metadata of a committed position', () => {
  it('holds a position for each output partition', () => {
    expect(checkpointMetadata([7, 0, 2 ** 40])).toBe('7,0,1099511627776');
    expect(outputsOf('7,0,1099511627776', 3)).toEqual([7, 0, 2 ** 40]);
    expect(outputsOf(checkpointMetadata([3]), 1)).toEqual([3]);
  });

  it.each([
    ['nothing', '', 1],
    ['fewer partitions', '1,2', 3],
    ['more partitions', '1,2,3', 2],
    ['a text', 'a,b', 2],
    ['a fraction', '1.5,2', 2],
  ])('is not a checkpoint when it holds %s', (_, metadata, partitions) => {
    expect(outputsOf(metadata, partitions)).toBeNull();
  });
});
