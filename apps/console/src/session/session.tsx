import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react';
import { createWaypostClient, type WaypostClient } from '@waypost/client';
import { keyOfLink } from './sign-in-link.js';

interface Session {
  /** null: nobody is signed in. */
  readonly client: WaypostClient | null;
  readonly signIn: (apiKey: string) => void;
  readonly signOut: () => void;
}

const STORED_KEY = 'waypost.apiKey';

const SessionContext = createContext<Session | null>(null);

/** The API key is kept for this tab only, and never in a cookie: no other origin can make a browser send it. */
export function SessionProvider({ children }: { readonly children: ReactNode }) {
  const queries = useQueryClient();
  const [apiKey, setApiKey] = useState(takeKey);
  const signIn = useCallback((key: string) => {
    sessionStorage.setItem(STORED_KEY, key);
    setApiKey(key);
  }, []);
  const signOut = useCallback(() => {
    sessionStorage.removeItem(STORED_KEY);
    queries.clear();
    setApiKey(null);
  }, [queries]);
  const client = useMemo(() => (apiKey === null ? null : clientOf(apiKey)), [apiKey]);
  const session = useMemo(() => ({ client, signIn, signOut }), [client, signIn, signOut]);
  return <SessionContext value={session}>{children}</SessionContext>;
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('useSession() is used outside of SessionProvider.');
  return session;
}

/** For pages, which exist only while somebody is signed in. */
export function useClient(): WaypostClient {
  const { client } = useSession();
  if (!client) throw new Error('useClient() is used while nobody is signed in.');
  return client;
}

/** Of a sign-in link, which is taken out of the address at once, else of this tab. */
function takeKey(): string | null {
  const linked = keyOfLink(location.hash);
  if (linked === null) return sessionStorage.getItem(STORED_KEY);
  history.replaceState(null, '', location.pathname + location.search);
  sessionStorage.setItem(STORED_KEY, linked);
  return linked;
}

function clientOf(apiKey: string): WaypostClient {
  return createWaypostClient({ baseUrl: location.origin, apiKey, retry: { retries: 1 } });
}
