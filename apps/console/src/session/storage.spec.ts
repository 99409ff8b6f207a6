import { describe, expect, it } from '@jest/globals';
import { type Store, storeOf } from './storage.js';

function denied(): never {
  throw new DOMException('The operation is insecure.', 'SecurityError');
}

function storage(setItem?: () => never): Store & { readonly values: Map<string, string> } {
  const values = new Map<string, string>();
  return {
    values,
    getItem: (name) => values.get(name) ?? null,
    setItem: setItem ?? ((name, value) => void values.set(name, value)),
    removeItem: (name) => void values.delete(name),
  };
}

describe('the storage', () => {
  it('of a browser that denies it lasts as long as the page', () => {
    const store = storeOf(denied);
    expect(store.getItem('key')).toBeNull();
    store.setItem('key', 'wp_1');
    expect(store.getItem('key')).toBe('wp_1');
    store.removeItem('key');
    expect(store.getItem('key')).toBeNull();
  });

  it('that is full keeps what is new, and not what it had', () => {
    const full = storage(denied);
    full.values.set('key', 'old');
    const store = storeOf(() => full);
    store.setItem('key', 'new');
    expect(store.getItem('key')).toBe('new');
    store.removeItem('key');
    expect(store.getItem('key')).toBeNull();
  });

  it('is that of the browser where it is open', () => {
    const open = storage();
    storeOf(() => open).setItem('key', 'wp_1');
    expect([...open.values]).toEqual([['key', 'wp_1']]);
  });
});
