import { describe, expect, it } from '@jest/globals';
import { SqlParameters } from './sql-parameters.js';

describe('SqlParameters', () => {
  it('numbers values in the order in which they are added', () => {
    const parameters = new SqlParameters();
    const places = [parameters.add('fleet-1'), parameters.add(null), parameters.add('fleet-1')];
    expect(places).toEqual(['$1', '$2', '$3']);
    expect(parameters.values).toEqual(['fleet-1', null, 'fleet-1']);
  });

  it('keeps a list as one value', () => {
    const parameters = new SqlParameters();
    expect(parameters.add(['a', 'b'], 'text[]')).toBe('$1::text[]');
    expect(parameters.values).toEqual([['a', 'b']]);
  });

  it('casts a value to the given type', () => expect(new SqlParameters().add(10, 'integer')).toBe('$1::integer'));

  it('writes the condition on a value that is given', () => {
    const parameters = new SqlParameters();
    parameters.add('fleet-1');
    const conditions = parameters.addIfGiven(0, (place) => `series > ${place}`, 'integer');
    expect(conditions).toEqual(['series > $2::integer']);
    expect(parameters.values).toEqual(['fleet-1', 0]);
  });

  it('leaves out the condition on a value that is not, and takes no number for it', () => {
    const parameters = new SqlParameters();
    expect(parameters.addIfGiven(undefined, (place) => `series > ${place}`)).toEqual([]);
    expect(parameters.add('fleet-1')).toBe('$1');
    expect(parameters.values).toEqual(['fleet-1']);
  });
});
