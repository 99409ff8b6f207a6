import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link, useSearch } from 'wouter';
import { useClient } from '../session/session.js';
import { nowMs } from '../shared/clock.js';
import { Moment } from '../shared/moment.js';
import { Empty, Failure, Loading } from '../shared/states.js';
import { FleetMap } from './fleet-map.js';
import { useGeofences } from './geofences.js';
import { isLocated } from './located.js';
import { VehiclePage } from './vehicle-page.js';

const WITHIN_MS = 15 * 60_000;
const MAX_POINTS = 2_000;
const EVERY_MS = 5_000;

/** All vehicles, or the one in the address: an id may hold anything, a slash too, so it is not part of the path. */
export function VehiclesPage() {
  const deviceId = new URLSearchParams(useSearch()).get('deviceId');
  return deviceId === null ? <AllVehicles /> : <VehiclePage key={deviceId} deviceId={deviceId} />;
}

/** Where the vehicles are that have reported lately. */
function AllVehicles() {
  const client = useClient();
  const geofences = useGeofences();
  const [selected, setSelected] = useState(-1);
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['vehicles'],
    queryFn: ({ signal }) => {
      const [startDate, endDate] = [new Date(nowMs() - WITHIN_MS), new Date(nowMs() + WITHIN_MS)];
      return client.listPaths({ startDate, endDate, limit: MAX_POINTS }, { signal });
    },
    refetchInterval: EVERY_MS,
  });
  const marks = useMemo(
    () =>
      (data?.data ?? []).flatMap(({ device_id: label, points }) => {
        const last = points.findLast(isLocated);
        return last ? [{ label, latitude: last.latitude, longitude: last.longitude, time: last.time }] : [];
      }),
    [data],
  );
  if (isPending) return <Loading what="vehicles" />;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (marks.length === 0)
    return (
      <Empty title="No vehicle has reported in the last 15 minutes">
        <p>
          Vehicles publish pings to Kafka: <code>npm run waypost -- publish --help</code>
        </p>
      </Empty>
    );
  return (
    <>
      <h1>Vehicles</h1>
      <FleetMap
        label={`${String(marks.length)} vehicles and ${String(geofences.length)} geofences`}
        geofences={geofences}
        path={NO_PATH}
        marks={marks}
        selected={marks[selected] ?? null}
        onPoint={setSelected}
      />
      {data.next_page_state !== null && <p className="hint">Only the first of the fleet: there are more.</p>}
      <ul className="plain columns">
        {marks.map(({ label, time }, index) => (
          <li key={label}>
            <Link href={`/vehicles?deviceId=${encodeURIComponent(label)}`} onFocus={() => setSelected(index)}>
              {label}
            </Link>{' '}
            <span className="hint">
              <Moment iso={time} />
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

const NO_PATH: readonly never[] = [];
