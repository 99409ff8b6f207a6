import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { instrumented, mutantsOf, mutated } from './mutators.js';

/** The text after each of its mutants. */
function changes(text: string): string[] {
  return mutantsOf(text).map((mutant) => mutated(text, mutant));
}

describe('mutants', () => {
  it.each([
    ['const x = a < 2;', ['const x = a <= 2;', 'const x = a >= 2;', 'const x = a < 3;']],
    ['const x = a !== b && c;', ['const x = a !== b || c;', 'const x = a === b && c;']],
    ['const x = a + b;', ['const x = a - b;']],
    ["const x = a + 'Some text';", ["const x = a + '';"]],
    ['const x = !a;', ['const x = (a);']],
    ['x = [1];', [';', 'x = [];', 'x = [2];']],
    ['if (a) b();', ['if (true) b();', 'if (false) b();', 'if (a) ;']],
    ['f = (a) => a?.b;', [';', 'f = (a) => undefined;', 'f = (a) => a.b;']],
    ['function f() { return true; }', ['function f() { return false; }']],
    ['throw new Error(`no ${a}`);', [';']],
    ['const x = Math.min(a, b);', ['const x = Math.max(a, b);']],
  ])('of %s', (text, expected) => expect(changes(text).sort()).toEqual([...expected].sort()));

  it.each([
    "import { a } from './a.js';",
    "type A = 'a' | 1;",
    'interface A { readonly a: 1 }',
    "logger.info('started', { a: 1 });",
    "@Inject('A') class A {}",
    "const A = Symbol('A');",
    'return;',
    "const x = { 'a-b': null, type: 'ended' };",
    "const x = new DomainError('Code', `a ${message}`);",
  ])('leave alone: %s', (text) => expect(changes(text)).toEqual([]));
});

describe('instrumented code', () => {
  it('says which functions ran, by the numbers that their mutants have', () => {
    const text =
      'const f = (a) => ({ b: () => a + 1 });\nfunction g() { return f(2).b(); }\ng();\nfunction never() { h(); }';
    const hits: number[] = [];
    runInNewContext(instrumented(text, 'a.ts'), { mutationHit: (_: string, scope: number) => hits.push(scope) });

    expect(hits.sort()).toEqual([-1, 0, 1, 2]);
    const scopeOf = (part: string) => mutantsOf(text).find(({ start }) => text.startsWith(part, start))?.scope;
    expect([scopeOf('+ 1'), scopeOf('2)'), scopeOf('g();'), scopeOf('h();')]).toEqual([1, 2, -1, 3]);
  });
});
