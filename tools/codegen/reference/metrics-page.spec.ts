import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { metricsOf } from './metrics-page.js';
import { productionSources } from './source-files.js';

const ROOT = new URL('../../..', import.meta.url).pathname;

function parse(text: string): ts.SourceFile {
  return ts.createSourceFile('a.ts', text, ts.ScriptTarget.ES2022, true);
}

describe('the metrics of a file', () => {
  it('are read from their options', () => {
    const source = parse(
      "new Counter({ name: 'a_total', help: 'Things' + ' counted.', labelNames: ['x', 'y'] as const });",
    );
    expect(metricsOf(source)).toEqual([
      { name: 'a_total', type: 'counter', labels: ['x', 'y'], help: 'Things counted.' },
    ]);
  });

  it('are read from the calls of a function that registers one', () => {
    const source = parse(`
      const gaugeOf = (registry, name, help) => { new Gauge({ name, help, registers: [registry] }); };
      gaugeOf(registry, 'a', 'First.');
      gaugeOf(registry, 'b', 'Second.');
    `);
    expect(metricsOf(source)).toEqual([
      { name: 'a', type: 'gauge', labels: [], help: 'First.' },
      { name: 'b', type: 'gauge', labels: [], help: 'Second.' },
    ]);
  });

  it('are all those that the code of the applications names', async () => {
    const sources = await productionSources(ROOT, ['apps']);
    const named = sources.flatMap(({ syntax }) => syntax.text.match(/'waypost_[a-z_]+'/g) ?? []);
    const found = sources.flatMap(({ syntax }) => metricsOf(syntax).map(({ name }) => `'${name}'`));
    expect(new Set(found)).toEqual(new Set(named));
    expect(found.length).toBeGreaterThan(20);
  });
});
