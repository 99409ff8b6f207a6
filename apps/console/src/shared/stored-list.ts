import { useCallback, useSyncExternalStore } from 'react';
import { browserStore } from '../session/storage.js';

export type Decode<Item> = (value: unknown) => Item | null;

/** A list in `localStorage`. What cannot be read, as after an update, is left out: it is nothing that is lost for good. */
export function readList<Item>(text: string | null, decode: Decode<Item>): Item[] {
  try {
    const values = JSON.parse(text ?? '[]') as unknown;
    return Array.isArray(values) ? values.map(decode).filter((item): item is Awaited<Item> => item !== null) : [];
  } catch {
    return [];
  }
}

export interface StoredList<Item> {
  readonly items: readonly Item[];
  /** Changes what is stored by then, in this tab or another. */
  readonly change: (by: (items: readonly Item[]) => readonly Item[]) => void;
}

/** The list under a name, the same in all tabs of this browser. */
export function useStoredList<Item>(name: string, decode: Decode<Item>): StoredList<Item> {
  const text = useSyncExternalStore(subscribe, () => browserStore.getItem(name));
  const change = useCallback(
    (by: (items: readonly Item[]) => readonly Item[]) => {
      browserStore.setItem(name, JSON.stringify(by(readList(browserStore.getItem(name), decode))));
      // Browsers tell the other tabs only.
      dispatchEvent(new StorageEvent('storage', { key: name }));
    },
    [name, decode],
  );
  return { items: readList(text, decode), change };
}

function subscribe(changed: () => void): () => void {
  addEventListener('storage', changed);
  return () => removeEventListener('storage', changed);
}
