import type { AvroRecord } from '@waypost/contracts';
import type { DecodedRecord } from '../../topic-reading/decode-batch.js';

export const TIME = Date.UTC(2026, 2, 1, 10, 0, 0, 250);

export const schema: AvroRecord = {
  type: 'record',
  name: 'Sample',
  fields: [
    { name: 'deviceId', type: 'string' },
    { name: 'eventTime', type: { type: 'long', logicalType: 'timestamp-millis' } },
    { name: 'speed', type: ['null', 'double'] },
    { name: 'count', type: ['null', 'long'] },
    { name: 'ignition', type: ['null', 'boolean'] },
    { name: 'tags', type: { type: 'map', values: 'string' } },
    { name: 'place', type: ['null', { type: 'record', name: 'Place', fields: [{ name: 'lat', type: 'double' }] }] },
    { name: 'raw', type: ['null', 'bytes'] },
  ],
};
function record(offset: number, value: object | null, more: object = {}): DecodedRecord {
  return { topic: 't', partition: 1, offset, timestamp: TIME, key: 'bus-7', value, ...more };
}

export const full = record(7, {
  deviceId: 'bus "7",\nnorth',
  eventTime: TIME,
  speed: 0,
  count: 9_007_199_254_740_991,
  ignition: false,
  tags: { a: '1' },
  place: { lat: 48.5 },
  raw: Buffer.from([1, 2, 255]),
});
export const empty = record(8, {
  deviceId: '',
  eventTime: 0,
  speed: null,
  count: null,
  ignition: null,
  tags: {},
  place: null,
});
export const broken = record(9, null, { problem: 'malformed: cut short', valueBase64: 'AAAA' });
