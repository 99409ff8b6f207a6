import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { variablesOf } from './configuration-page.js';
import type { SourceFile } from './source-files.js';

function file(path: string, text: string): SourceFile {
  return { path, syntax: ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true) };
}

describe('the variables of the configuration parsers', () => {
  it('have their defaults and the applications that use the parser', () => {
    const sources = [
      file(
        'libs/platform/src/config/port-config.ts',
        "const port = z.object({ A_PORT: withDefault(asInteger(0, 65_535), 'a port', 8_080) });\n" +
          "export const both = z.object({ A_KEY: required(asKey, 'a key') }).and(port);",
      ),
      file('apps/public-api/src/config.ts', 'parse(both)'),
      file('tools/dev-stack/start/start-config.ts', 'parse(both)'),
    ];
    const readBy = new Set(['public-api', '`npm start`']);
    expect(variablesOf(sources)).toEqual([
      { name: 'A_PORT', fallback: '8_080', readBy },
      { name: 'A_KEY', fallback: undefined, readBy },
    ]);
  });

  it('belong to the application whose code parses them', () => {
    const sources = [
      file(
        'apps/public-api/src/config.ts',
        "const c = z.object({ A_FLAG: withDefault(asFlag, 'true or false', false) });",
      ),
    ];
    expect(variablesOf(sources)).toEqual([{ name: 'A_FLAG', fallback: 'false', readBy: new Set(['public-api']) }]);
  });
});
