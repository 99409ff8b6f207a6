import { describe, expect, it } from '@jest/globals';
import { columnsOf } from './columns.js';
import { csvFormat } from './export-format.js';
import { broken, empty, full, schema } from './testing/sample-records.js';

describe('CSV', () => {
  it('quotes where needed, writes readable times, distinguishes 0 and false from null', () => {
    const columns = columnsOf(schema);
    const csv = csvFormat(columns);
    expect(csv.header.trimEnd().split(',')).toHaveLength(columns.length);
    expect(csv.textOf([full])).toBe(
      't,1,7,2026-03-01T10:00:00.250Z,bus-7,"bus ""7"",\nnorth",2026-03-01T10:00:00.250Z,0,9007199254740991,false,' +
        '"{""a"":""1""}",48.5,AQL/,,\n',
    );
    expect(csv.textOf([empty, broken])).toBe(
      't,1,8,2026-03-01T10:00:00.250Z,bus-7,,1970-01-01T00:00:00.000Z,,,,{},,,,\n' +
        't,1,9,2026-03-01T10:00:00.250Z,bus-7,,,,,,,,,malformed: cut short,AAAA\n',
    );
  });

  const formulas = ['=HYPERLINK("http://evil.example")', '+1', '-1', '@SUM(A1)'].map((deviceId) => ({
    ...full,
    value: { deviceId, place: { lat: -48.5 } },
  }));
  const columns = columnsOf(schema).filter(({ name }) => ['deviceId', 'place.lat'].includes(name));

  it('lets a spreadsheet run no text as a formula, and leaves negative numbers as they are', () => {
    expect(csvFormat(columns).textOf(formulas)).toBe(
      `"'=HYPERLINK(""http://evil.example"")",-48.5\n'+1,-48.5\n'-1,-48.5\n'@SUM(A1),-48.5\n`,
    );
  });

  it('keeps formulas on demand', () => {
    expect(csvFormat(columns, { keepFormulas: true }).textOf(formulas)).toBe(
      '"=HYPERLINK(""http://evil.example"")",-48.5\n+1,-48.5\n-1,-48.5\n@SUM(A1),-48.5\n',
    );
  });
});
