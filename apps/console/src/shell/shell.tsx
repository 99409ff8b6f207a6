import { lazy, Suspense, useEffect, useRef } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { DeliveriesPage } from '../deliveries/deliveries-page.js';
import { DeliveryPage } from '../deliveries/delivery-page.js';
import { OverviewPage } from '../overview/overview-page.js';
import { isOpen } from '../session/access.js';
import { Brand } from '../session/brand.js';
import { useSession } from '../session/session.js';
import { SignInPage } from '../session/sign-in-page.js';
import { Boundary } from '../shared/boundary.js';
import { Empty, Loading } from '../shared/states.js';
import { SubscriptionsPage } from '../subscriptions/subscriptions-page.js';
import { CommandPalette } from './command-palette.js';
import { OfflineBanner } from './offline-banner.js';
import { PLACES } from './places.js';
import { useScrollMemory } from './scroll-memory.js';
import { KeyHelp, type Shortcuts, useShortcuts } from './shortcuts.js';

/** Loaded when they are opened; the first view stays small. */
const ResendsPage = lazy(async () => ({ default: (await import('../resends/resends-page.js')).ResendsPage }));
const NewSubscriptionPage = lazy(async () => ({
  default: (await import('../subscriptions/new-subscription-page.js')).NewSubscriptionPage,
}));
const SubscriptionPage = lazy(async () => ({
  default: (await import('../subscriptions/subscription-page.js')).SubscriptionPage,
}));
const VehiclesPage = lazy(async () => ({ default: (await import('../vehicles/vehicles-page.js')).VehiclesPage }));

/** What is around every page. */
export function Shell() {
  const { client } = useSession();
  return client === null ? <SignInPage /> : <SignedIn />;
}

function SignedIn() {
  const [location] = useLocation();
  const main = useRef<HTMLElement>(null);
  const shortcuts = useShortcuts();

  // A page that opens is read from its beginning, by a screen reader too.
  useEffect(() => {
    document.title = `${PLACES.find(({ path }) => location.startsWith(path))?.title ?? 'Console'} - Waypost`;
    // A page may have a better place for it, such as a field or the row that one comes back to.
    if (main.current?.contains(document.activeElement) === false) main.current.focus({ preventScroll: true });
  }, [location]);
  useScrollMemory(location);

  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <Header location={location} {...shortcuts} />
      <OfflineBanner />
      <main id="main" ref={main} tabIndex={-1}>
        <Boundary key={location} fallback={<Broken />}>
          <Suspense fallback={<Loading what="the page" />}>
            <Pages />
          </Suspense>
        </Boundary>
      </main>
      <KeyHelp dialog={shortcuts.help.dialog} />
      <CommandPalette dialog={shortcuts.palette.dialog} />
    </>
  );
}

function Pages() {
  const [first] = usePlaces();
  return (
    <Switch>
      <Route path="/">
        <Redirect to={first?.path ?? '/overview'} replace />
      </Route>
      <Route path="/overview" component={OverviewPage} />
      <Route path="/deliveries" component={DeliveriesPage} />
      <Route path="/deliveries/resends" component={ResendsPage} />
      <Route path="/deliveries/:eventId">{({ eventId }) => <DeliveryPage eventId={eventId} />}</Route>
      <Route path="/subscriptions" component={SubscriptionsPage} />
      <Route path="/subscriptions/new" component={NewSubscriptionPage} />
      <Route path="/subscriptions/:id">{({ id }) => <SubscriptionPage id={id} />}</Route>
      <Route path="/vehicles" component={VehiclesPage} />
      <Route>
        <Empty title="There is no such page">
          <Link href="/deliveries">Go to the deliveries</Link>
        </Empty>
      </Route>
    </Switch>
  );
}

/** Those that the scopes of the session open. */
function usePlaces() {
  const { info } = useSession();
  return PLACES.filter(({ path }) => isOpen(path, info?.scopes ?? null));
}

function Broken() {
  return (
    <Empty title="This page could not be shown">
      <p>There may be a newer version of the console.</p>
      <button type="button" onClick={() => location.reload()}>
        Load it
      </button>
    </Empty>
  );
}

function Header({ location, help, palette }: Shortcuts & { readonly location: string }) {
  const { signOut } = useSession();
  const places = usePlaces();
  return (
    <header>
      <Link href="/" className="brand">
        <Brand />
      </Link>
      <nav aria-label="Main">
        {places.map(({ path, title }) => (
          <Link key={path} href={path} aria-current={location.startsWith(path) ? 'page' : undefined}>
            {title}
          </Link>
        ))}
      </nav>
      <button type="button" className="quiet" onClick={palette.show} aria-keyshortcuts="Control+K Meta+K">
        Search <kbd>{isMac() ? '⌘' : 'Ctrl'} K</kbd>
      </button>
      <button type="button" className="quiet" onClick={help.show} aria-keyshortcuts="?">
        Keys
      </button>
      <button type="button" className="quiet" onClick={signOut}>
        Sign out
      </button>
    </header>
  );
}

function isMac(): boolean {
  return navigator.userAgent.includes('Mac');
}
