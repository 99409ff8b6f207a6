import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import type { V2Event, WaypostClient } from '@waypost/client';
import { useClient } from '../session/session.js';
import { nowMs } from '../shared/clock.js';
import { firstOf } from '../shared/first-of.js';
import { Trail } from '../shared/missing.js';
import { Moment } from '../shared/moment.js';
import { Empty, Failure, Loading } from '../shared/states.js';
import { countText } from '../shared/time-text.js';
import { usePageTitle } from '../shared/use-page-title.js';
import { FleetMap } from './fleet-map.js';
import { useGeofences } from './geofences.js';
import { isLocated, type LocatedPoint } from './located.js';
import type { MapMark } from './map-drawing.js';
import { SpeedGraph } from './speed-graph.js';

const HOUR_MS = 3_600_000;
const HOURS = [1, 6, 24, 72] as const;
const AROUND_MS = HOUR_MS / 2;
const PAGE_POINTS = 2_000;
const MAX_PAGES = 10;
const MAX_EVENTS = 50;

/** The path of one vehicle with its events, and its speed beside it. */
export function VehiclePage({ deviceId }: { readonly deviceId: string }) {
  usePageTitle(deviceId);
  const client = useClient();
  const { items: geofences } = useGeofences();
  const parameters = new URLSearchParams(useSearch());
  const at = momentOf(parameters.get('at'));
  const hours = HOURS.find((some) => String(some) === parameters.get('hours')) ?? HOURS[0];
  const [pointed, setPointed] = useState(-1);
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['vehicle', deviceId, hours, at],
    queryFn: ({ signal }) => readVehicle(client, deviceId, windowOf(at, hours), signal),
  });
  const marks = useMemo(() => (data?.events ?? []).flatMap(markOf), [data]);
  const selected = pointed >= 0 || at === null ? pointed : nearestTo(at, data?.points ?? []);
  return (
    <>
      <Trail href="/vehicles">Vehicles</Trail>
      <div className="title">
        <h1 className="text">{deviceId}</h1>
        <RangeField deviceId={deviceId} hours={at === null ? hours : null} />
        <Link href={`/deliveries?deviceId=${encodeURIComponent(deviceId)}`}>Deliveries</Link>
      </div>
      {isPending && <Loading what="the path" />}
      {error && <Failure error={error} retry={() => void refetch()} />}
      {data?.points.length === 0 && (
        <Empty title="It did not report in this time">
          <p>Choose a longer range above, or look at the other vehicles.</p>
        </Empty>
      )}
      {data && data.points.length > 0 && (
        <>
          <div className="map-and-speed">
            <FleetMap
              label={`The path of ${deviceId} with ${String(marks.length)} events`}
              geofences={geofences}
              path={data.points}
              marks={marks}
              selected={data.points[selected] ?? null}
              onPoint={setPointed}
            />
            <SpeedGraph points={data.points} selected={selected} onSelect={setPointed} />
          </div>
          {data.hasMore && (
            <p className="hint" role="status">
              Its first {countText(data.points.length)} points: it has more after{' '}
              <Moment iso={data.points.at(-1)?.time ?? ''} />. Choose a shorter range to see the newest.
            </p>
          )}
          <Events events={data.events} />
        </>
      )}
    </>
  );
}

interface RangeFieldProps {
  readonly deviceId: string;
  /** null: around an event. */
  readonly hours: number | null;
}

function RangeField({ deviceId, hours }: RangeFieldProps) {
  const [, navigate] = useLocation();
  return (
    <label className="switch">
      Last
      <select
        value={hours ?? ''}
        onChange={({ target }) => navigate(`/vehicles?${addressOf(deviceId, target.value)}`, { replace: true })}
      >
        {hours === null && <option value="">around the event</option>}
        {HOURS.map((some) => (
          <option key={some} value={some}>
            {some} h
          </option>
        ))}
      </select>
    </label>
  );
}

function Events({ events }: { readonly events: readonly V2Event[] }) {
  return (
    <section className="card" aria-labelledby="events-title">
      <h2 id="events-title">Events</h2>
      {events.length === 0 && <p className="hint">None was delivered in this time.</p>}
      <ol className="plain columns">
        {events.map(({ eventId, eventType, eventTime, subscriptionId }) => (
          <li key={`${eventId} ${subscriptionId}`}>
            <Moment iso={eventTime} /> <Link href={`/deliveries/${eventId}`}>{eventType}</Link>
          </li>
        ))}
      </ol>
    </section>
  );
}

interface Vehicle {
  /** From the oldest on. */
  readonly points: readonly LocatedPoint[];
  /** There are later points, which were not read. */
  readonly hasMore: boolean;
  readonly events: readonly V2Event[];
}

async function readVehicle(
  client: WaypostClient,
  deviceId: string,
  { startDate, endDate }: Window,
  signal: AbortSignal,
): Promise<Vehicle> {
  const [paths, events] = await Promise.all([
    firstOf(client.pages('listPaths', { startDate, endDate, deviceIds: [deviceId], limit: PAGE_POINTS }, { signal }), {
      pages: MAX_PAGES,
    }),
    client.listEvents({ startDate, endDate, deviceId, order: 'desc', limit: MAX_EVENTS }, { signal }),
  ]);
  const points = paths.items.flatMap((path) => path.points).filter(isLocated);
  return { points, hasMore: paths.hasMore, events: events.data };
}

interface Window {
  readonly startDate: Date;
  readonly endDate: Date;
}

/** Around the moment of an event, or the last hours; trackers may be ahead of the clock. */
function windowOf(at: number | null, hours: number): Window {
  if (at !== null) return { startDate: new Date(at - AROUND_MS), endDate: new Date(at + AROUND_MS) };
  return { startDate: new Date(nowMs() - hours * HOUR_MS), endDate: new Date(nowMs() + HOUR_MS) };
}

function momentOf(text: string | null): number | null {
  const atMs = Date.parse(text ?? '');
  return Number.isNaN(atMs) ? null : atMs;
}

function addressOf(deviceId: string, hours: string): string {
  return new URLSearchParams({ deviceId, ...(hours !== '1' && { hours }) }).toString();
}

function nearestTo(atMs: number, points: readonly LocatedPoint[]): number {
  const far = points.map(({ time }) => Math.abs(Date.parse(time) - atMs));
  return far.indexOf(Math.min(...far));
}

/** Where the event says that it happened, in either format of its payload; none for a test event. */
function markOf({ eventType, payload }: V2Event): MapMark[] {
  const data = (payload['eventData'] ?? payload) as Readonly<Record<string, unknown>>;
  const { latitude, longitude } = data;
  // There are too many of these to name.
  const label = eventType.startsWith('position') ? '' : eventType;
  return typeof latitude === 'number' && typeof longitude === 'number' ? [{ latitude, longitude, label }] : [];
}
