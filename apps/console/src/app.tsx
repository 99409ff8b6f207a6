import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Router, useLocation } from 'wouter';
import { baseOf, fleetOf } from './session/base-path.js';
import { SessionProvider } from './session/session.js';
import { Shell } from './shell/shell.js';

/** Whose pages these are stands in front of the address: of a portal, or of the fleet that an operator has chosen. */
export function App() {
  const [path] = useLocation();
  const base = baseOf(path);
  // What was read of one fleet is never shown for another.
  const queries = useMemo(() => newQueries(base), [base]);
  return (
    <QueryClientProvider client={queries}>
      <SessionProvider key={base} fleetId={fleetOf(base)}>
        <Router base={base}>
          <Shell />
        </Router>
      </SessionProvider>
    </QueryClientProvider>
  );
}

/** The client retries by itself, as the API asks for. Offline, a page says so instead of waiting without a word. */
function newQueries(_base: string): QueryClient {
  return new QueryClient({
    defaultOptions: { queries: { retry: false, staleTime: 5_000, networkMode: 'always' } },
  });
}
