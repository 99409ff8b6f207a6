export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/**
 * A storage that also takes what the browser denies, as it may to a portal in a frame of another site: that lasts until the page is
 * closed.
 *
 * @param open the access alone may throw
 */
export function storeOf(open: () => Store): Store {
  const kept = new Map<string, string>();

  function tried<Result>(use: (store: Store) => Result, denied: Result): Result {
    try {
      return use(open());
    } catch {
      return denied;
    }
  }

  return {
    getItem: (name) => kept.get(name) ?? tried((store) => store.getItem(name), null),
    setItem(name, value) {
      const isStored = tried((store) => {
        store.setItem(name, value);
        return true;
      }, false);
      if (isStored) kept.delete(name);
      else kept.set(name, value);
    },
    removeItem(name) {
      kept.delete(name);
      tried((store) => store.removeItem(name), undefined);
    },
  };
}

/** Of this tab alone. */
export const tabStore = storeOf(() => sessionStorage);
/** Of all tabs, and of later visits. Who writes has to know whether it lasts: that throws where the browser denies it, or is full. */
export const browserStore: Pick<Store, 'getItem' | 'setItem'> = {
  getItem(name) {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  },
  setItem: (name, value) => localStorage.setItem(name, value),
};
