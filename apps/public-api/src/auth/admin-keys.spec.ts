import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { formatCredential } from '@waypost/domain';
import { AdminKeys } from './admin-keys.js';

const KEY = formatCredential('adminKey', Buffer.alloc(32, 1));
const OTHER = formatCredential('adminKey', Buffer.alloc(32, 2));
const sha256 = (key: string) => createHash('sha256').update(key).digest();

describe('admin keys (R-37)', () => {
  it('are those of which the configuration has the SHA-256', () => {
    const keys = new AdminKeys([sha256(OTHER), sha256(KEY)]);
    expect(keys.find(KEY)).toBe(`admin-${sha256(KEY).toString('hex').slice(0, 8)}`);
    expect(keys.find(OTHER)).not.toBe(keys.find(KEY));
    expect(keys.find(formatCredential('adminKey', Buffer.alloc(32, 3)))).toBeNull();
  });

  it('are known by their id as long as they are configured', () => {
    const id = new AdminKeys([sha256(KEY)]).find(KEY) ?? '';
    expect(new AdminKeys([sha256(OTHER), sha256(KEY)]).has(id)).toBe(true);
    expect(new AdminKeys([sha256(OTHER)]).has(id)).toBe(false);
  });

  it('do not exist unless one is configured', () => expect(new AdminKeys([]).find(KEY)).toBeNull());

  it('are not the configured text itself', () => {
    expect(new AdminKeys([sha256(KEY)]).find(sha256(KEY).toString('hex'))).toBeNull();
    expect(new AdminKeys([sha256(KEY)]).find(`wpa_${sha256(KEY).toString('hex')}`)).toBeNull();
  });

  it.each(['wpa_short', 'wp_AAAA', '', `wpa_${'x'.repeat(200)}`])(
    'have a form that %s has not, whatever is configured',
    (key) => {
      expect(new AdminKeys([sha256(key)]).find(key)).toBeNull();
    },
  );
});
