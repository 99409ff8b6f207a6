import { lazy, Suspense, useEffect, useLayoutEffect, useRef } from 'react';
import { Link, Redirect, Route, Switch, useLocation, useSearch } from 'wouter';
import { OverviewPage } from '../overview/overview-page.js';
import { stopRuns } from '../resends/batch-runs.js';
import { useSession } from '../session/session.js';
import { SignInPage } from '../session/sign-in-page.js';
import { Boundary } from '../shared/boundary.js';
import { Empty, Loading } from '../shared/states.js';
import { showTitle } from '../shared/use-page-title.js';
import { CommandPalette } from './command-palette.js';
import { FailedResend } from './failed-resend.js';
import { OfflineBanner } from './offline-banner.js';
import { pageOf } from './page-of.js';
import { useScrollMemory } from './scroll-memory.js';
import { KeyHelp, useShortcuts } from './shortcuts.js';
import { SideBar } from './side-bar.js';
import { usePlaces } from './use-places.js';

/** Loaded when they are opened, or once the first one is there: the first view stays small. */
const LOADERS = {
  deliveries: () => import('../deliveries/deliveries-page.js'),
  delivery: () => import('../deliveries/delivery-page.js'),
  resends: () => import('../resends/resends-page.js'),
  subscriptions: () => import('../subscriptions/subscriptions-page.js'),
  newSubscription: () => import('../subscriptions/new-subscription-page.js'),
  subscription: () => import('../subscriptions/subscription-page.js'),
  vehicles: () => import('../vehicles/vehicles-page.js'),
  fleets: () => import('../fleets/fleets-page.js'),
  topics: () => import('../operator/topics-page.js'),
  partitions: () => import('../operator/partitions-page.js'),
};
const REST_AFTER_MS = 3_000;

const DeliveriesPage = lazy(async () => ({ default: (await LOADERS.deliveries()).DeliveriesPage }));
const DeliveryPage = lazy(async () => ({ default: (await LOADERS.delivery()).DeliveryPage }));
const ResendsPage = lazy(async () => ({ default: (await LOADERS.resends()).ResendsPage }));
const SubscriptionsPage = lazy(async () => ({ default: (await LOADERS.subscriptions()).SubscriptionsPage }));
const NewSubscriptionPage = lazy(async () => ({ default: (await LOADERS.newSubscription()).NewSubscriptionPage }));
const SubscriptionPage = lazy(async () => ({ default: (await LOADERS.subscription()).SubscriptionPage }));
const VehiclesPage = lazy(async () => ({ default: (await LOADERS.vehicles()).VehiclesPage }));
const FleetsPage = lazy(async () => ({ default: (await LOADERS.fleets()).FleetsPage }));
const TopicsPage = lazy(async () => ({ default: (await LOADERS.topics()).TopicsPage }));
const PartitionsPage = lazy(async () => ({ default: (await LOADERS.partitions()).PartitionsPage }));

/** What is around every page. */
export function Shell() {
  const { client, isOpening } = useSession();
  if (client !== null) return <SignedIn />;
  // In a moment it may be signed in.
  return isOpening ? null : <SignInPage />;
}

function SignedIn() {
  const [location] = useLocation();
  const page = pageOf(location, useSearch());
  const main = useRef<HTMLElement>(null);
  const shortcuts = useShortcuts();
  const { all } = usePlaces();
  const title = all.find(({ path }) => location.startsWith(path.replace('~', '')))?.title ?? 'Console';

  // Before the effects of the page, which may know a better one.
  useLayoutEffect(() => {
    showTitle(title);
  }, [page, title]);
  // A page that opens is read from its beginning, by a screen reader too.
  useEffect(() => {
    // A page may have a better place for it, such as a field or the row that one comes back to.
    if (main.current?.contains(document.activeElement) === false) main.current.focus({ preventScroll: true });
  }, [page]);
  useScrollMemory(page);
  useEffect(() => stopRuns, []);
  useEffect(() => {
    // One that fails is tried again when its page is opened.
    const timer = setTimeout(
      () => Object.values(LOADERS).forEach((load) => void load().catch(() => null)),
      REST_AFTER_MS,
    );
    return () => clearTimeout(timer);
  }, []);

  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <SideBar {...shortcuts} />
      <OfflineBanner />
      <main id="main" ref={main} tabIndex={-1}>
        <FailedResend />
        <Boundary key={page} fallback={<Broken />}>
          <Suspense fallback={<Loading what="the page" />}>
            <Pages />
          </Suspense>
        </Boundary>
      </main>
      <KeyHelp dialog={shortcuts.help.dialog} />
      <CommandPalette {...shortcuts.palette} />
    </div>
  );
}

function Pages() {
  const { isOperator } = useSession();
  const { all } = usePlaces();
  const [location] = useLocation();
  const [first] = all;
  // An operator has no page of a fleet before one is chosen.
  const isPlace = all.some(({ path }) => location.startsWith(path.replace('~', '')));
  if (location === '/' || (isOperator && !isPlace)) return <Redirect to={first?.path ?? '/overview'} replace />;
  return (
    <Switch>
      <Route path="/overview" component={OverviewPage} />
      <Route path="/deliveries" component={DeliveriesPage} />
      <Route path="/deliveries/resends" component={ResendsPage} />
      <Route path="/deliveries/:eventId">{({ eventId }) => <DeliveryPage eventId={eventId} />}</Route>
      <Route path="/subscriptions" component={SubscriptionsPage} />
      <Route path="/subscriptions/new" component={NewSubscriptionPage} />
      <Route path="/subscriptions/:id">{({ id }) => <SubscriptionPage id={id} />}</Route>
      <Route path="/vehicles" component={VehiclesPage} />
      <Route path="/fleets" component={FleetsPage} />
      <Route path="/topics" component={TopicsPage} />
      <Route path="/partitions" component={PartitionsPage} />
      <Route>
        <h1>Page not found</h1>
        <p>
          <Link href="/deliveries">Go to the deliveries</Link>
        </p>
      </Route>
    </Switch>
  );
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
