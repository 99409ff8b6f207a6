import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { V2Event, WaypostClient } from '@waypost/client';
import { useClient } from '../session/session.js';
import { nowMs } from '../shared/clock.js';
import { Moment } from '../shared/moment.js';
import { Empty, Failure, Loading } from '../shared/states.js';
import { FleetMap } from './fleet-map.js';
import { useGeofences } from './geofences.js';
import { isLocated, type LocatedPoint } from './located.js';
import type { MapMark } from './map-drawing.js';
import { SpeedGraph } from './speed-graph.js';

const HOUR_MS = 3_600_000;
const HOURS = [1, 6, 24, 72] as const;
const MAX_POINTS = 2_000;
const MAX_EVENTS = 50;

/** The path of one vehicle with its events, and its speed beside it. */
export function VehiclePage({ deviceId }: { readonly deviceId: string }) {
  const client = useClient();
  const geofences = useGeofences();
  const [hours, setHours] = useState<number>(HOURS[0]);
  const [selected, setSelected] = useState(-1);
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['vehicle', deviceId, hours],
    queryFn: ({ signal }) => readVehicle(client, deviceId, hours * HOUR_MS, signal),
  });
  const marks = useMemo(() => (data?.events ?? []).flatMap(markOf), [data]);
  return (
    <>
      <div className="title">
        <h1 className="text">{deviceId}</h1>
        <label className="switch">
          Last
          <select value={hours} onChange={(event) => setHours(Number(event.target.value))}>
            {HOURS.map((some) => (
              <option key={some} value={some}>
                {some} h
              </option>
            ))}
          </select>
        </label>
        <Link href={`/deliveries?deviceId=${encodeURIComponent(deviceId)}`}>Deliveries</Link>
      </div>
      {isPending && <Loading what="the path" />}
      {error && <Failure error={error} retry={() => void refetch()} />}
      {data?.points.length === 0 && <Empty title="It has not reported in this time" />}
      {data && data.points.length > 0 && (
        <>
          <FleetMap
            label={`The path of ${deviceId} with ${String(marks.length)} events`}
            geofences={geofences}
            path={data.points}
            marks={marks}
            selected={data.points[selected] ?? null}
            onPoint={setSelected}
          />
          <SpeedGraph points={data.points} selected={selected} onSelect={setSelected} />
          <Events events={data.events} />
        </>
      )}
    </>
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
  readonly points: readonly LocatedPoint[];
  readonly events: readonly V2Event[];
}

async function readVehicle(
  client: WaypostClient,
  deviceId: string,
  rangeMs: number,
  signal: AbortSignal,
): Promise<Vehicle> {
  const [startDate, endDate] = [new Date(nowMs() - rangeMs), new Date(nowMs() + HOUR_MS)];
  const [paths, events] = await Promise.all([
    client.listPaths({ startDate, endDate, deviceIds: [deviceId], limit: MAX_POINTS }, { signal }),
    client.listEvents({ startDate, deviceId, order: 'desc', limit: MAX_EVENTS }, { signal }),
  ]);
  return { points: paths.data.flatMap(({ points }) => points).filter(isLocated), events: events.data };
}

/** Where the event says that it happened, in either format of its payload; none for a test event. */
function markOf({ eventType, payload }: V2Event): MapMark[] {
  const data = (payload['eventData'] ?? payload) as Readonly<Record<string, unknown>>;
  const { latitude, longitude } = data;
  // There are too many of these to name.
  const label = eventType.startsWith('position') ? '' : eventType;
  return typeof latitude === 'number' && typeof longitude === 'number' ? [{ latitude, longitude, label }] : [];
}
