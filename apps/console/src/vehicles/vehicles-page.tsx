import './vehicles.css';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useSearch } from 'wouter';
import type { Geofence } from '@waypost/client';
import { useClient } from '../session/session.js';
import { ShellHint } from '../session/shell-hint.js';
import { nowMs } from '../shared/clock.js';
import { firstOf } from '../shared/first-of.js';
import { Empty, Failure, Loading, Outdated } from '../shared/states.js';
import { countText } from '../shared/time-text.js';
import { FleetMap } from './fleet-map.js';
import { type FleetMarks, readFleetMarks, WITHIN_MS } from './fleet-marks.js';
import { GeofenceEditor } from './geofence-editor.js';
import { GeofenceList } from './geofence-list.js';
import { useGeofences } from './geofences.js';
import type { Place } from './mercator.js';
import { VehicleList } from './vehicle-list.js';
import type { VehicleMark } from './vehicle-mark.js';
import { VehiclePage } from './vehicle-page.js';

const PAGE_POINTS = 2_000;
/** Of one window. */
const MAX_PAGES = 5;
const EVERY_MS = 5_000;

/** All vehicles, one of them, or a geofence, as the address says: an id may hold anything, a slash too, so it is not part of the path. */
export function VehiclesPage() {
  const parameters = new URLSearchParams(useSearch());
  const [deviceId, geofence] = [parameters.get('deviceId'), parameters.get('geofence')];
  if (deviceId !== null) return <VehiclePage key={deviceId} deviceId={deviceId} />;
  return <AllVehicles editing={geofence} />;
}

/** Where the vehicles are that have reported lately. */
function AllVehicles({ editing }: { readonly editing: string | null }) {
  const client = useClient();
  const { data, error, dataUpdatedAt, isPending, refetch } = useQuery({
    queryKey: ['vehicles'],
    queryFn: ({ signal, client: queries, queryKey }) => {
      const now = nowMs();
      // The clock of a tracker may be ahead.
      const window = { endDate: new Date(now + WITHIN_MS), limit: PAGE_POINTS };
      return readFleetMarks(queries.getQueryData<FleetMarks>(queryKey), now, (startMs) =>
        firstOf(client.pages('listPaths', { ...window, startDate: new Date(startMs) }, { signal }), {
          pages: MAX_PAGES,
        }),
      );
    },
    refetchInterval: EVERY_MS,
  });
  const marks = data?.marks ?? NO_MARKS;
  if (isPending) return <Loading what="vehicles" />;
  if (editing !== null) return <GeofenceEditor key={editing} id={editing} marks={marks} />;
  if (!data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      {error && <Outdated error={error} sinceMs={dataUpdatedAt} />}
      <Fleet marks={marks} hasMore={data.hasMore} />
    </>
  );
}

function Fleet({ marks, hasMore }: { readonly marks: readonly VehicleMark[]; readonly hasMore: boolean }) {
  const { items: geofences, hasMore: hasMoreGeofences } = useGeofences();
  const [selected, setSelected] = useState(-1);
  const focus = useMemo<readonly Place[] | undefined>(
    () => (marks.length > 0 ? undefined : geofences.flatMap(({ shape }) => placesOf(shape))),
    [marks, geofences],
  );
  return (
    <>
      <div className="title">
        <h1>Vehicles</h1>
        {marks.length > 0 && (
          <span className="hint">
            {hasMore ? 'At least ' : ''}
            {countText(marks.length)} {marks.length === 1 ? 'vehicle' : 'vehicles'} in the last 15 minutes
          </span>
        )}
      </div>
      {marks.length === 0 && (
        <Empty title="No vehicle has reported in the last 15 minutes">
          <ShellHint>
            <p>
              Vehicles publish pings to Kafka: <code>npm run waypost -- publish --help</code>
            </p>
          </ShellHint>
        </Empty>
      )}
      {(marks.length > 0 || geofences.length > 0) && (
        <FleetMap
          label={`${String(marks.length)} vehicles and ${String(geofences.length)} geofences`}
          {...{ geofences, marks, path: NO_PATH }}
          {...(focus && { focus })}
          selected={marks[selected] ?? null}
          onPoint={setSelected}
        />
      )}
      {marks.length > 0 && <VehicleList marks={marks} onSelect={setSelected} />}
      <GeofenceList geofences={geofences} hasMore={hasMoreGeofences} />
    </>
  );
}

const NO_PATH: readonly never[] = [];
const NO_MARKS: readonly never[] = [];

function placesOf(shape: Geofence['shape']): Place[] {
  if (shape.type === 'circle') return [shape.center];
  return shape.coordinates.flat().map(([longitude = 0, latitude = 0]) => ({ latitude, longitude }));
}
