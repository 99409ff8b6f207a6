import { describe, expect, it } from '@jest/globals';
import { columnsOf } from './columns.js';
import { schema } from './testing/sample-records.js';

describe('The columns of a topic (R-39)', () => {
  it('are the position of the record, then the fields of its schema, then the reason it could not be read', () => {
    expect(columnsOf(schema).map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      ...['record_topic text', 'record_partition integer', 'record_offset long', 'record_time time', 'record_key text'],
      ...['deviceId text', 'eventTime time', 'speed number', 'count long', 'ignition boolean', 'tags json'],
      ...['place.lat number', 'raw bytes', 'record_problem text', 'record_value_base64 text'],
    ]);
  });
});
