import { useEffect } from 'react';
import { isPortal } from '../session/base-path.js';

/** Tells the tab of one thing from those of others: `position van-7 - Waypost`. '' until it is known. */
export function usePageTitle(text: string): void {
  useEffect(() => {
    if (text !== '') showTitle(text);
  }, [text]);
}

/** A portal is a part of the fleet's own pages, which have no name of ours. */
export function showTitle(text: string): void {
  document.title = isPortal(location.pathname) ? text : `${text} - Waypost`;
}
