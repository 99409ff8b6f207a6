import { Router, useLocation } from 'wouter';
import { baseOf, fleetOf } from './session/base-path.js';
import { SessionProvider } from './session/session.js';
import { Shell } from './shell/shell.js';

/** Whose pages these are stands in front of the address: of a portal, or of the fleet that an operator has chosen. */
export function App() {
  const [path] = useLocation();
  const base = baseOf(path);
  return (
    // What was read of one fleet is never shown for another.
    <SessionProvider key={base} fleetId={fleetOf(base)}>
      <Router base={base}>
        <Shell />
      </Router>
    </SessionProvider>
  );
}
