import './vehicles.css';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useSearch } from 'wouter';
import { useClient } from '../session/session.js';
import { ShellHint } from '../session/shell-hint.js';
import { nowMs } from '../shared/clock.js';
import { Empty, Failure, Loading, Outdated } from '../shared/states.js';
import { FleetMap } from './fleet-map.js';
import { GeofenceEditor } from './geofence-editor.js';
import { GeofenceList } from './geofence-list.js';
import { useGeofences } from './geofences.js';
import { isLocated } from './located.js';
import type { Place } from './mercator.js';
import { VehicleList } from './vehicle-list.js';
import { type VehicleMark, vehicleMarkOf } from './vehicle-mark.js';
import { VehiclePage } from './vehicle-page.js';

const WITHIN_MS = 15 * 60_000;
const MAX_POINTS = 2_000;
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
        return last ? [vehicleMarkOf(label, last)] : [];
      }),
    [data],
  );
  if (isPending) return <Loading what="vehicles" />;
  if (editing !== null) return <GeofenceEditor key={editing} id={editing} marks={marks} />;
  if (!data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      {error && <Outdated error={error} sinceMs={dataUpdatedAt} />}
      <Fleet marks={marks} hasMore={data.next_page_state !== null} />
    </>
  );
}

function Fleet({ marks, hasMore }: { readonly marks: readonly VehicleMark[]; readonly hasMore: boolean }) {
  const geofences = useGeofences();
  const [selected, setSelected] = useState(-1);
  const focus = useMemo<readonly Place[] | undefined>(
    () => (marks.length > 0 ? undefined : geofences.flatMap(({ shape }) => placesOf(shape))),
    [marks, geofences],
  );
  return (
    <>
      <div className="title">
        <h1>Vehicles</h1>
        <span className="hint">
          {marks.length} {marks.length === 1 ? 'vehicle' : 'vehicles'} in the last 15 minutes
        </span>
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
      {hasMore && <p className="hint">Only the first of the fleet: there are more.</p>}
      {marks.length > 0 && <VehicleList marks={marks} onSelect={setSelected} />}
      <GeofenceList geofences={geofences} />
    </>
  );
}

const NO_PATH: readonly never[] = [];

function placesOf(shape: ReturnType<typeof useGeofences>[number]['shape']): Place[] {
  if (shape.type === 'circle') return [shape.center];
  return shape.coordinates.flat().map(([longitude = 0, latitude = 0]) => ({ latitude, longitude }));
}
