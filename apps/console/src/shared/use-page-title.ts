import { useEffect } from 'react';

/** Tells the tab of one thing from those of others: `position van-7 - Waypost`. '' until it is known. */
export function usePageTitle(text: string): void {
  useEffect(() => {
    if (text !== '') document.title = `${text} - Waypost`;
  }, [text]);
}
