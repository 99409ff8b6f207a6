import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MAX_TRACESTATE_LENGTH, passedTracestate } from './trace-state.js';

/** Members of 10 characters each. */
const members = (count: number) => Array.from({ length: count }, (_, n) => `vendor${String(n).padStart(2, '0')}=1`);

describe('the tracestate of a producer (R-46)', () => {
  it.each([
    ['one vendor', 'congo=t61rcWkgMzE', 'congo=t61rcWkgMzE'],
    ['a tenant at a vendor, before another', 'fw529a3039@dt=FfffffffQ,b=1', 'fw529a3039@dt=FfffffffQ,b=1'],
    ['a value with every sign that is allowed', 'a_b-c*d/e=x y:;{}"~', 'a_b-c*d/e=x y:;{}"~'],
    ['spaces and empty members between them', ' a=1 ,\t,b=2,', 'a=1,b=2'],
    ['a tenant whose key begins with a digit', '0tenant@vendor=1', '0tenant@vendor=1'],
  ])('is passed on in its order: %s', (_, given, expected) => {
    expect(passedTracestate(given)).toBe(expected);
  });

  it.each([
    ['empty', ''],
    ['without a value', 'a='],
    ['without a key', '=1'],
    ['without an equals sign', 'a'],
    ['with a second equals sign', 'a=1='],
    ['with a key in capitals', 'A=1'],
    ['with a line break', 'a=1\r\nx-admin: 1'],
    ['with a letter beyond ASCII', 'a=é'],
    ['with a key twice', 'a=1,b=2,a=3'],
    ['with one bad member among good ones', 'a=1,b'],
    ['of more than 32 members', members(33).join(',')],
  ])('is as none when it is %s', (_, given) => {
    expect(passedTracestate(given)).toBeNull();
  });

  it('loses whole members at its end beyond 512 characters, since the first ones are the newest', () => {
    const long = `${'v'.repeat(9)}=${'x'.repeat(400)}`;
    const fits = [long, ...members(9)];
    expect(fits.join(',')).toHaveLength(410 + 9 * 11);
    expect(passedTracestate([...fits, 'a=1234'].join(','))).toBe(fits.join(','));
    expect(passedTracestate(`a=${'x'.repeat(MAX_TRACESTATE_LENGTH - 2)}`)).toHaveLength(MAX_TRACESTATE_LENGTH);
    expect(passedTracestate(`a=${'x'.repeat(MAX_TRACESTATE_LENGTH - 1)}`)).toBeNull();
  });

  it('is short, of printable ASCII and accepted again, whatever the producer sends', () => {
    const member = fc.tuple(fc.stringMatching(/^[a-z][a-z0-9]{0,20}$/), fc.string({ maxLength: 80 }));
    const likely = fc.array(member).map((pairs) => pairs.map((pair) => pair.join('=')).join(','));
    fc.assert(
      fc.property(fc.oneof(likely, fc.string({ unit: 'binary' })), (given) => {
        const passed = passedTracestate(given);
        if (passed === null) return;
        expect(passed).toMatch(/^[\x20-\x7e]{1,512}$/);
        expect(passedTracestate(passed)).toBe(passed);
      }),
    );
  });
});
