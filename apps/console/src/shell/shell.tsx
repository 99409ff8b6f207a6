import { useEffect, useRef } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { DeliveriesPage } from '../deliveries/deliveries-page.js';
import { DeliveryPage } from '../deliveries/delivery-page.js';
import { OverviewPage } from '../overview/overview-page.js';
import { useSession } from '../session/session.js';
import { SignInPage } from '../session/sign-in-page.js';
import { Empty } from '../shared/states.js';
import { NewSubscriptionPage } from '../subscriptions/new-subscription-page.js';
import { SubscriptionPage } from '../subscriptions/subscription-page.js';
import { SubscriptionsPage } from '../subscriptions/subscriptions-page.js';
import { VehiclesPage } from '../vehicles/vehicles-page.js';
import { KeyHelp, useShortcuts } from './shortcuts.js';

const PLACES = [
  { path: '/overview', title: 'Overview' },
  { path: '/deliveries', title: 'Deliveries' },
  { path: '/subscriptions', title: 'Subscriptions' },
  { path: '/vehicles', title: 'Vehicles' },
] as const;

/** What is around every page. */
export function Shell() {
  const { client } = useSession();
  return client === null ? <SignInPage /> : <SignedIn />;
}

function SignedIn() {
  const { signOut } = useSession();
  const [location] = useLocation();
  const main = useRef<HTMLElement>(null);
  const help = useShortcuts();

  // A page that opens is read from its beginning, by a screen reader too.
  useEffect(() => {
    document.title = `${PLACES.find(({ path }) => location.startsWith(path))?.title ?? 'Console'} - Waypost`;
    main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [location]);

  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header>
        <Link href="/overview" className="brand">
          Waypost
        </Link>
        <nav aria-label="Main">
          {PLACES.map(({ path, title }) => (
            <Link key={path} href={path} aria-current={location.startsWith(path) ? 'page' : undefined}>
              {title}
            </Link>
          ))}
        </nav>
        <button type="button" className="quiet" onClick={help.show} aria-keyshortcuts="?">
          Keys
        </button>
        <button type="button" className="quiet" onClick={signOut}>
          Sign out
        </button>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Switch>
          <Route path="/">
            <Redirect to="/overview" replace />
          </Route>
          <Route path="/overview" component={OverviewPage} />
          <Route path="/deliveries" component={DeliveriesPage} />
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
      </main>
      <KeyHelp dialog={help.dialog} />
    </>
  );
}
