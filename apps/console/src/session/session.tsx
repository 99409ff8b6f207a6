import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { createWaypostClient, type Output, type WaypostClient } from '@waypost/client';
import { type Deed, lackOf } from './access.js';
import { isPortal, storedName } from './base-path.js';
import { applyBranding } from './branding.js';
import { askForSession, offerSession } from './handover.js';
import { type PortalState, portalStateAfter } from './portal-state.js';
import { msUntilEnd } from './session-end.js';
import { isSignInLink, keyOfLink, portalCodeOfLink } from './sign-in-link.js';
import { tabStore } from './storage.js';

interface Session {
  /** null: signed out. */
  readonly client: WaypostClient | null;
  /** Whether the tab that this one was opened from may still sign it in. */
  readonly isOpening: boolean;
  /** What the API says of the key or the portal session; null: not known so far. */
  readonly info: Output<'getSession'> | null;
  /** Known by the form of the key, before the API has said so. */
  readonly isOperator: boolean;
  /** That an operator has chosen. */
  readonly fleetId: string | null;
  /** In a portal without a session: why. null: this is not a portal. */
  readonly portal: PortalState | null;
  /** Tries the code of the link again, where that may help. */
  readonly openPortal: () => void;
  /** Where the reader of a portal came from. */
  readonly returnUrl: string | null;
  readonly signIn: (apiKey: string) => void;
  readonly signOut: () => void;
}

const STORED_KEY = storedName('waypost.apiKey', location.pathname);
const STORED_RETURN_URL = storedName('waypost.returnUrl', location.pathname);

const SessionContext = createContext<Session | null>(null);

interface SessionProviderProps {
  /** That an operator has chosen. */
  readonly fleetId: string | null;
  readonly children: ReactNode;
}

/** The API key or token is kept for this tab only, and never in a cookie: no other origin can make a browser send it. */
export function SessionProvider({ fleetId, children }: SessionProviderProps) {
  const [linkedCode] = useState(() => portalCodeOfLink(location.hash));
  const [apiKey, setApiKey] = useState(takeKey);
  // Pages leave something behind when they go, so it does not do to empty that of the key before.
  const queries = useMemo(() => newQueries(apiKey), [apiKey]);
  const [portal, setPortal] = useState<PortalState | null>(() =>
    !isPortal(location.pathname) ? null : linkedCode === null ? 'ended' : 'opening',
  );
  const signIn = useCallback((key: string) => {
    tabStore.setItem(STORED_KEY, key);
    setApiKey(key);
  }, []);
  const signOut = useCallback(() => {
    tabStore.removeItem(STORED_KEY);
    setApiKey(null);
    setPortal((state) => state && 'ended');
  }, []);
  const openPortal = useOpenedLink(linkedCode, signIn, setPortal);
  const isOpening = useHandover(apiKey, linkedCode, signIn);
  const access = useMemo(
    () => (apiKey === null ? null : accessOf(apiKey, fleetId, signOut)),
    [apiKey, fleetId, signOut],
  );
  const client = access?.client ?? null;
  const info = useInfo(access, apiKey, queries, signOut);
  const session = useMemo(() => {
    const returnUrl = info?.returnUrl ?? tabStore.getItem(STORED_RETURN_URL);
    const isOperator = apiKey?.startsWith('wpa_') === true;
    return { client, isOpening, info, isOperator, fleetId, portal, openPortal, returnUrl, signIn, signOut };
  }, [apiKey, client, isOpening, info, fleetId, portal, openPortal, signIn, signOut]);
  return (
    <QueryClientProvider client={queries}>
      <SessionContext value={session}>{children}</SessionContext>
    </QueryClientProvider>
  );
}

/**
 * The client retries by itself, as the API asks for. Offline, a page says so instead of waiting without a word: nothing is carried
 * out later, when the one who asked for it has gone on.
 */
function newQueries(_apiKey: string | null): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { retry: false, staleTime: 5_000, networkMode: 'always' },
      mutations: { networkMode: 'always' },
    },
  });
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('useSession() is used outside of SessionProvider.');
  return session;
}

/** For pages, which exist only during a session. */
export function useClient(): WaypostClient {
  const { client } = useSession();
  if (!client) throw new Error('useClient() is used while signed out.');
  return client;
}

/** Why the one who is signed in may not do this; null: they may, as far as is known. */
export function useLack(deed: Deed): string | null {
  return lackOf(useSession().info, deed);
}

/**
 * Exchanges the code of a link to the portal, once: a second time it is of no use. Returns what tries it again where the
 * service has not answered.
 */
function useOpenedLink(code: string | null, signIn: (key: string) => void, show: (state: PortalState) => void) {
  const isOpened = useRef(false);
  const open = useCallback(() => {
    if (code === null) return;
    createWaypostClient({ baseUrl: location.origin, apiKey: '', retry: { retries: 0 } })
      .exchangePortalCode({ body: { code } })
      .then(
        ({ token }) => signIn(token),
        (error: unknown) => show(portalStateAfter(error)),
      );
  }, [code, signIn, show]);
  useEffect(() => {
    if (isOpened.current) return;
    isOpened.current = true;
    open();
  }, [open]);
  return useCallback(() => {
    show('opening');
    open();
  }, [open, show]);
}

/** Takes the session of the tab that this one was opened from, and gives its own to those that are opened from it. */
function useHandover(apiKey: string | null, code: string | null, signIn: (key: string) => void): boolean {
  const [isOpening, setIsOpening] = useState(apiKey === null && code === null);
  useEffect(() => {
    if (!isOpening) return;
    void askForSession(location.href).then((key) => {
      if (key !== null) signIn(key);
      setIsOpening(false);
    });
  }, [isOpening, signIn]);
  useEffect(() => (apiKey === null ? undefined : offerSession(apiKey)), [apiKey]);
  return isOpening;
}

/** Shows the fleet's look in its portal, and ends a session at its time. */
function useInfo(
  access: Access | null,
  apiKey: string | null,
  queries: QueryClient,
  signOut: () => void,
): Output<'getSession'> | null {
  const options = {
    // useQuery() stays with the first queries that it is given, also for the next key.
    queryKey: ['session', apiKey],
    queryFn: async () => {
      if (access === null) return null;
      const info = await access.client.getSession();
      return { info, leftMs: msUntilEnd(info.expiresAt, access.lastDate()) };
    },
    enabled: access !== null,
    staleTime: Infinity,
  };
  const { data } = useQuery(options, queries);
  useEffect(() => {
    if (!data || data.info.type !== 'portal_session') return;
    const { info, leftMs } = data;
    if (info.branding !== undefined) applyBranding(info.branding);
    if (info.returnUrl !== undefined) tabStore.setItem(STORED_RETURN_URL, info.returnUrl);
    const timer = leftMs === null ? undefined : setTimeout(signOut, leftMs);
    return () => {
      clearTimeout(timer);
    };
  }, [data, signOut]);
  return access === null ? null : (data?.info ?? null);
}

/** The key of a sign-in link, which is taken out of the address at once, else that of this tab. */
function takeKey(): string | null {
  const linked = keyOfLink(location.hash);
  if (!isSignInLink(location.hash)) return tabStore.getItem(STORED_KEY);
  history.replaceState(null, '', location.pathname + location.search);
  if (linked === null) {
    // A link to the portal replaces the session that this tab had.
    tabStore.removeItem(STORED_KEY);
    tabStore.removeItem(STORED_RETURN_URL);
  } else tabStore.setItem(STORED_KEY, linked);
  return linked;
}

interface Access {
  readonly client: WaypostClient;
  /** When the service answered last, by its own clock. */
  readonly lastDate: () => string | null;
}

function accessOf(apiKey: string, fleetId: string | null, signOut: () => void): Access {
  let date: string | null = null;
  const client = createWaypostClient({
    baseUrl: location.origin,
    apiKey,
    retry: { retries: 1 },
    ...(fleetId !== null && { fleetId }),
    async fetch(...request) {
      const response = await fetch(...request);
      date = response.headers.get('date');
      // A session that was revoked or has ended; a key that is wrong is shown as an error where it is used.
      if (response.status === 401 && apiKey.startsWith('wps_')) signOut();
      return response;
    },
  });
  return { client, lastDate: () => date };
}
