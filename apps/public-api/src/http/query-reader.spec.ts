import { describe, expect, it } from '@jest/globals';
import { ApiError } from '../errors/api-error.js';
import { dateTime, integer, oneOf, text, uuid } from './parameter-readers.js';
import { createQueryReader } from './query-reader.js';

const NAMES = { single: ['from', 'limit', 'name'], repeatable: ['type'] };

function detailsOf(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return error.details;
    throw error;
  }
  return null;
}

describe('the query reader', () => {
  it('decodes names and values as forms encode them', () => {
    const query = createQueryReader('/x?name=a+b%C3%A9&type=one&type=two&', NAMES);
    expect(query.optional('name', text(10))).toBe('a bé');
    expect(query.all('type', text(10))).toEqual(['one', 'two']);
    expect(query.optional('limit', integer(1, 9))).toBeUndefined();
    query.finish();
  });

  it('shows readers a value as it stands in the URL too', () => {
    const query = createQueryReader('/x?name=a+b%C3%A9', NAMES);
    expect(query.optional('name', (decoded, written) => ({ type: 'value', value: [decoded, written] }))).toEqual([
      'a bé',
      'a+b%C3%A9',
    ]);
  });

  it('names everything that is wrong at once', () => {
    const query = createQueryReader('/x?frm=1&limit=0&name=%FF&name=x', NAMES);
    query.required('from', dateTime);
    query.optional('limit', integer(1, 9));
    query.optional('name', text(10));
    expect(detailsOf(query.finish)).toEqual([
      { parameter: 'frm', message: 'is not a parameter of this resource' },
      { parameter: 'name', message: 'is not valid percent-encoded UTF-8' },
      { parameter: 'from', message: 'is required' },
      { parameter: 'limit', message: 'must be an integer from 1 to 9' },
    ]);
  });

  it('refuses a single parameter that is repeated, even with the same value', () => {
    const query = createQueryReader('/x?limit=1&limit=1', NAMES);
    expect(detailsOf(query.finish)).toEqual([{ parameter: 'limit', message: 'may be given only once' }]);
  });

  it('explains a zone whose plus sign was not encoded', () => {
    const query = createQueryReader('/x?from=2026-03-01T00:00:00+02:00', NAMES);
    query.required('from', dateTime);
    expect(detailsOf(query.finish)).toEqual([
      { parameter: 'from', message: expect.stringContaining('%2B') as unknown },
    ]);
  });
});

describe('parameter readers', () => {
  it.each(['0', '-1', '+1', '1.0', '1e1', ' 1', '', '2001', '99999999999999999999', '0x10', '١'])(
    'integer refuses %j',
    (given) => {
      expect(integer(1, 2000)(given).type).toBe('problem');
    },
  );

  it('integer takes both ends of its range', () => {
    expect(integer(1, 2000)('1')).toEqual({ type: 'value', value: 1 });
    expect(integer(1, 2000)('2000')).toEqual({ type: 'value', value: 2000 });
  });

  it('text refuses control characters, emptiness and excess', () => {
    for (const given of ['', 'a\u0000b', '\u001f', 'abcd']) expect(text(3)(given).type).toBe('problem');
  });

  it('uuid ignores case', () => {
    expect(uuid('6F9619FF-8B86-D011-B42D-00C04FC964FF')).toEqual({
      type: 'value',
      value: '6f9619ff-8b86-d011-b42d-00c04fc964ff',
    });
    expect(uuid('6F9619FF8B86D011B42D00C04FC964FF').type).toBe('problem');
  });

  it('oneOf is case-sensitive', () => {
    expect(oneOf(['a', 'b'])('b')).toEqual({ type: 'value', value: 'b' });
    expect(oneOf(['a', 'b'])('A')).toEqual({ type: 'problem', message: 'must be one of a, b' });
  });
});
