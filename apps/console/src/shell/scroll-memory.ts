import { useEffect } from 'react';
import { changeEntry, readEntry } from '../shared/history-entry.js';

const SAVE_AFTER_MS = 100;

/** "Back" returns to where a page was left: its rows are there at once, so that it can scroll there itself. */
export function useScrollMemory(page: string): void {
  useEffect(() => {
    history.scrollRestoration = 'manual';
    scrollTo(0, readEntry().scrollY ?? 0);
    let timer: ReturnType<typeof setTimeout> | undefined;
    function save(): void {
      clearTimeout(timer);
      changeEntry({ scrollY });
    }
    function later(): void {
      clearTimeout(timer);
      timer = setTimeout(save, SAVE_AFTER_MS);
    }
    document.addEventListener('scroll', later);
    // A link may be followed before the timer ends.
    document.addEventListener('click', save, true);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('scroll', later);
      document.removeEventListener('click', save, true);
    };
  }, [page]);
}
