import './styles.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { SessionProvider } from './session/session.js';
import { portalBase } from './session/sign-in-link.js';
import { Shell } from './shell/shell.js';

const root = document.getElementById('root');
if (root) {
  // The client retries by itself, as the API asks for. Offline, a page says so instead of waiting without a word.
  const queries = new QueryClient({
    defaultOptions: { queries: { retry: false, staleTime: 5_000, networkMode: 'always' } },
  });
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <SessionProvider>
          <Router base={portalBase(location.pathname)}>
            <Shell />
          </Router>
        </SessionProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
}
