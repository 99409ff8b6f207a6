import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ApiError } from '../errors/api-error.js';
import { dto } from './dto.js';
import { instant, oneOf, parameterText, uuid, wholeNumber } from './fields.js';
import { createQueryReader, parseQuery } from './query-text.js';

class QueryDto extends dto(
  z.object({
    from: instant(),
    limit: wholeNumber(1, 2_000).default(7),
    name: parameterText(10).optional(),
    type: z.array(parameterText(10)).optional(),
    ids: z.array(z.string()).optional().meta({ explode: false, maxWrittenLength: 12 }),
    id: uuid().optional(),
    mode: oneOf(['a', 'b']).optional(),
    whole: z.boolean('must be true or false').optional(),
  }),
) {}

const FROM = 'from=2026-03-01T00:00:00Z';
const readQuery = createQueryReader(QueryDto);
function read(query: string): unknown {
  return readQuery(parseQuery(query));
}

function detailsOf(query: string): unknown {
  try {
    read(query);
  } catch (error) {
    if (error instanceof ApiError) return error.getResponse().details;
    throw error;
  }
  return null;
}

describe('the query reader', () => {
  it('decodes names and values as forms encode them', () => {
    expect(read(`${FROM}&n%61me=a+b%C3%A9&type=one&type=two&`)).toEqual({
      from: Date.UTC(2026, 2, 1),
      limit: 7,
      name: 'a bé',
      type: ['one', 'two'],
    });
  });

  it('splits a list with commas, and limits it as it stands in the URL', () => {
    expect(read(`${FROM}&ids=a,b+c`)).toMatchObject({ ids: ['a', 'b c'] });
    expect(read(`${FROM}&ids=abcdefghijkl`)).toMatchObject({ ids: ['abcdefghijkl'] });
    expect(detailsOf(`${FROM}&ids=%61bcdefghijk`)).toEqual([
      { parameter: 'ids', message: expect.stringContaining('at most 12 characters') as unknown },
    ]);
  });

  it('reads true and false, and nothing else as one of them', () => {
    expect(read(`${FROM}&whole=true`)).toMatchObject({ whole: true });
    expect(read(`${FROM}&whole=false`)).toMatchObject({ whole: false });
    for (const text of ['1', 'TRUE', '']) {
      expect(detailsOf(`${FROM}&whole=${text}`)).toEqual([{ parameter: 'whole', message: 'must be true or false' }]);
    }
  });

  it('names everything that is wrong at once', () => {
    expect(detailsOf('frm=1&limit=0&name=%FF&name=x')).toEqual([
      { parameter: 'frm', message: 'is not a parameter of this resource' },
      { parameter: 'name', message: 'is not valid percent-encoded UTF-8' },
      { parameter: 'from', message: 'is required' },
      { parameter: 'limit', message: 'must be an integer from 1 to 2000' },
    ]);
  });

  it('explains a time zone with an unencoded plus sign', () => {
    expect(detailsOf('from=2026-03-01T00:00:00+02:00')).toEqual([
      { parameter: 'from', message: expect.stringContaining('%2B') as unknown },
    ]);
  });

  it('reads a UUID in any case', () => {
    const id = '6f9619ff-8b86-d011-b42d-00c04fc964ff';
    expect(read(`${FROM}&id=${id.toUpperCase()}`)).toMatchObject({ id });
    expect(detailsOf(`${FROM}&id=6F9619FF8B86D011B42D00C04FC964FF`)).toHaveLength(1);
  });

  it('distinguishes case in a choice', () => {
    expect(read(`${FROM}&mode=b`)).toMatchObject({ mode: 'b' });
    expect(detailsOf(`${FROM}&mode=A`)).toEqual([{ parameter: 'mode', message: 'must be one of a, b' }]);
  });
});
