import { Link } from 'wouter';
import type { Geofence } from '@waypost/client';
import { useLack } from '../session/session.js';
import { countText } from '../shared/time-text.js';

interface GeofenceListProps {
  readonly geofences: readonly Geofence[];
  readonly hasMore: boolean;
}

/** The geofences by name; the map has them as well. */
export function GeofenceList({ geofences, hasMore }: GeofenceListProps) {
  const lack = useLack('geofences:write');
  return (
    <section className="card" aria-labelledby="geofences-title">
      <div className="title">
        <h2 id="geofences-title">Geofences</h2>
        {lack === null ? (
          <Link href="/vehicles?geofence=new" className="button">
            Draw a geofence
          </Link>
        ) : (
          <span className="hint">{lack}</span>
        )}
      </div>
      {geofences.length === 0 && (
        <p className="hint">None yet. A vehicle that enters or leaves one makes a geofence_in or geofence_out event.</p>
      )}
      {hasMore && <p className="hint">The first {countText(geofences.length)}: the fleet has more.</p>}
      <ul className="plain columns">
        {geofences.map(({ id, name, shape }) => (
          <li key={id}>
            <Link href={`/vehicles?geofence=${id}`} className="text">
              {name}
            </Link>{' '}
            <span className="hint">{sizeText(shape)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function sizeText(shape: Geofence['shape']): string {
  if (shape.type === 'circle') return `circle, radius ${countText(shape.radiusInMeters)} m`;
  // Each ring ends where it begins.
  const corners = shape.coordinates.reduce((sum, ring) => sum + ring.length - 1, 0);
  return `polygon, ${countText(corners)} corners`;
}
