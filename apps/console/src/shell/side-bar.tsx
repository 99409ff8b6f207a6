import {
  Boxes,
  Car,
  ChartColumn,
  Keyboard,
  Layers,
  LogOut,
  type LucideIcon,
  Radio,
  Search,
  Send,
  Webhook,
} from 'lucide-react';
import { Link, useLocation } from 'wouter';
import { FleetSwitch } from '../fleets/fleet-switch.js';
import { Brand } from '../session/brand.js';
import { useSession } from '../session/session.js';
import type { Place } from './places.js';
import type { Shortcuts } from './shortcuts.js';
import { usePlaces } from './use-places.js';

const ICONS: Readonly<Record<string, LucideIcon>> = {
  Overview: ChartColumn,
  Deliveries: Send,
  Subscriptions: Webhook,
  Vehicles: Car,
  Fleets: Boxes,
  Topics: Layers,
  Partitions: Radio,
};
const ICON_PX = 17;

/** Beside the page on a wide screen, above it on a small one. */
export function SideBar({ help, palette }: Shortcuts) {
  const { info, isOperator, fleetId, portal, signOut } = useSession();
  const { fleet, installation } = usePlaces();
  return (
    <header>
      <Link href="/" className="brand">
        <Brand />
      </Link>
      {isOperator && <FleetSwitch fleetId={fleetId} />}
      {!isOperator && portal === null && (
        // Has its place before it is known, so that the menu does not jump.
        <p className="fleet-name text" title="The fleet of your API key">
          {info?.fleetId ?? '\u00a0'}
        </p>
      )}
      <button type="button" className="search" onClick={palette.show} aria-keyshortcuts="Control+K Meta+K">
        <Search size={ICON_PX} aria-hidden="true" />
        <span>Search</span> <kbd>{isMac() ? '⌘' : 'Ctrl'} K</kbd>
      </button>
      <nav aria-label="Main">
        <Links places={fleet} />
        {installation.length > 0 && <p className="nav-title">Installation</p>}
        <Links places={installation} />
      </nav>
      <div className="foot">
        <button type="button" className="quiet keyboard" onClick={help.show} aria-keyshortcuts="?">
          <Keyboard size={ICON_PX} aria-hidden="true" /> <span>Keyboard shortcuts</span>
        </button>
        <button type="button" className="quiet" onClick={signOut}>
          <LogOut size={ICON_PX} aria-hidden="true" /> <span>Sign out</span>
        </button>
      </div>
    </header>
  );
}

function Links({ places }: { readonly places: readonly Place[] }) {
  const [location] = useLocation();
  return places.map(({ path, title }) => {
    const Icon = ICONS[title];
    const isHere = location.startsWith(path.replace('~', ''));
    return (
      <Link key={path} href={path} aria-current={isHere ? 'page' : undefined}>
        {Icon && <Icon size={ICON_PX} aria-hidden="true" />}
        {title}
      </Link>
    );
  });
}

function isMac(): boolean {
  return navigator.userAgent.includes('Mac');
}
