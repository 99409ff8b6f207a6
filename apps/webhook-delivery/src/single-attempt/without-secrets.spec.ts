import { describe, expect, it, jest } from '@jest/globals';
import { withoutSecrets } from './without-secrets.js';

function shown(body: string, ...secrets: string[]): string {
  return withoutSecrets(Buffer.from(body), secrets).toString();
}

/** With what JSON, HTML and URLs escape. */
const AWKWARD = String.raw`s3"c&r<e>t\'/k y`;

const NAMES: Readonly<Record<string, string>> = { '"': 'quot', '&': 'amp', '<': 'lt', '>': 'gt', "'": 'apos' };

function inFour(character: string, radix: number): string {
  return character.charCodeAt(0).toString(radix).padStart(4, '0');
}

describe('the beginning of a response', () => {
  it('does not repeat the secrets of the request', () => {
    const page = 'headers: x-key=s3cret-1, authorization=Bearer tok.en; again s3cret-1';
    expect(shown(page, 's3cret-1', 'tok.en')).toBe(
      'headers: x-key=[secret], authorization=Bearer [secret]; again [secret]',
    );
  });

  it('has no beginning of a secret at its end either', () => {
    expect(shown('x-key=s3cr', 's3cret-1')).toBe('x-key=[secret]');
    expect(shown('x-key=s3c', 's3cret-1')).toBe('x-key=s3c');
  });

  it.each([
    ['as JSON', JSON.stringify(AWKWARD).slice(1, -1)],
    ['as JSON with escaped slashes', JSON.stringify(AWKWARD).slice(1, -1).replaceAll('/', '\\/')],
    ['as JSON in numbers', AWKWARD.replaceAll(/\W/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)],
    ['as HTML', AWKWARD.replaceAll(/[&<>"']/g, (c) => `&${NAMES[c] ?? ''};`)],
    ['as HTML with names in capitals', AWKWARD.replaceAll(/[&<>"]/g, (c) => `&${(NAMES[c] ?? '').toUpperCase()};`)],
    ['as HTML in numbers', AWKWARD.replaceAll(/\W/g, (c) => `&#${String(c.charCodeAt(0))};`)],
    ['as HTML in hexadecimal numbers', AWKWARD.replaceAll(/\W/g, (c) => `&#x${c.charCodeAt(0).toString(16)};`)],
    ['as HTML in numbers of four digits', AWKWARD.replaceAll(/\W/g, (c) => `&#${inFour(c, 10)};`)],
    ['as HTML in hexadecimal numbers of four digits', AWKWARD.replaceAll(/\W/g, (c) => `&#x${inFour(c, 16)};`)],
    ['as part of a URL', encodeURIComponent(AWKWARD)],
    ['as a field of a form', new URLSearchParams({ key: AWKWARD }).toString().slice(4).toLowerCase()],
  ])('does not repeat them %s', (_, escaped) => {
    expect(escaped).not.toBe(AWKWARD);
    expect(shown(`x-key=${escaped}; and ${escaped}`, AWKWARD)).toBe('x-key=[secret]; and [secret]');
    for (let length = escaped.length - 1; length >= escaped.length - 8; length--)
      expect(shown(`x-key=${escaped.slice(0, length)}`, AWKWARD)).toBe('x-key=[secret]');
  });

  it('has no part of a secret that another one is in, or begins in', () => {
    expect(shown('a=key-12-34.', 'key-12', 'key-12-34')).toBe('a=[secret].');
    expect(shown('a=key-12-34.', 'key-12-34', 'key-12')).toBe('a=[secret].');
    expect(shown('a=one-two-three.', 'one-two', 'two-three')).toBe('a=[secret].');
    expect(shown('a=tictictic.', 'tictic')).toBe('a=[secret].');
  });

  it('is not even read when the request had no secret', () => {
    const page = Buffer.from('<p class="a">x &amp; y</p>');
    const read = jest.spyOn(page, 'toString');
    expect([withoutSecrets(page, []), withoutSecrets(page, [''])]).toEqual([page, page]);
    expect(read).not.toHaveBeenCalled();
  });

  it('stays as it is otherwise, byte for byte', () => {
    const bytes = Buffer.from([0x00, 0xff, 0xc3, 0xbc, 0x0a]);
    expect(withoutSecrets(bytes, ['key', ''])).toEqual(bytes);
    const page = String.raw`100 %, a+b &c; "\\u0041" %zz &#1;`;
    expect(shown(page, 's3cret-1')).toBe(page);
  });
});
