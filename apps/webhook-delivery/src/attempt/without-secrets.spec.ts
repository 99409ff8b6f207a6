import { describe, expect, it } from '@jest/globals';
import { withoutSecrets } from './without-secrets.js';

function shown(body: string, ...secrets: string[]): string {
  return withoutSecrets(Buffer.from(body), secrets).toString();
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

  it('stays as it is otherwise, byte for byte', () => {
    const bytes = Buffer.from([0x00, 0xff, 0xc3, 0xbc, 0x0a]);
    expect(withoutSecrets(bytes, ['key', ''])).toEqual(bytes);
  });
});
