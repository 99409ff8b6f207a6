import type { ReactNode } from 'react';
import { useSession } from './session.js';

/** What needs a shell on the machine of Waypost: the reader of a portal has none. */
export function ShellHint({ children }: { readonly children: ReactNode }) {
  const { portal } = useSession();
  return portal === null ? <>{children}</> : null;
}
