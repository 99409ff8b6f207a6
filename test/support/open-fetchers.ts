import type { StreamsBackend } from '@waypost/streams';

/** Counts the fetchers that are made from now on. Each has connections to the brokers until it is closed. */
export function countFetchers(backend: StreamsBackend) {
  const count = { made: 0, open: 0 };
  const make = backend.fetcher.bind(backend);
  backend.fetcher = () => {
    const fetcher = make();
    count.made++;
    count.open++;
    const close = fetcher.close.bind(fetcher);
    let isOpen = true;
    return Object.assign(fetcher, {
      close: (): Promise<void> => {
        if (isOpen) count.open--;
        isOpen = false;
        return close();
      },
    });
  };
  return count;
}
