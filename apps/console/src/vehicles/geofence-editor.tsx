import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ComponentProps, type SyntheticEvent, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { type CreateGeofence, type Geofence, WaypostApiError } from '@waypost/client';
import { useClient, useLack } from '../session/session.js';
import { ConfirmButton } from '../shared/confirm-button.js';
import { MissingOrFailed, Trail } from '../shared/missing.js';
import { Segments } from '../shared/segments.js';
import { ActionError, Loading } from '../shared/states.js';
import { useCreation } from '../shared/use-creation.js';
import { usePageTitle } from '../shared/use-page-title.js';
import { FleetMap } from './fleet-map.js';
import { draftOf, emptyDraft, type GeofenceDraft, hintOf, shapeOf } from './geofence-draft.js';
import { ShapeFields } from './geofence-fields.js';
import { useGeofences } from './geofences.js';
import type { MapMark } from './map-drawing.js';
import type { Place } from './mercator.js';

interface GeofenceEditorProps {
  /** `new`: one that does not exist yet. */
  readonly id: string;
  /** The vehicles, to draw around. */
  readonly marks: readonly MapMark[];
}

/** A geofence on the map and as figures: what one changes, the other shows. */
export function GeofenceEditor({ id, marks }: GeofenceEditorProps) {
  const client = useClient();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['geofence', id],
    queryFn: ({ signal }) => client.call('getGeofence', { id }, { signal }),
    enabled: id !== 'new',
    // What is being edited must not change under the hand; saving finds out whether it has.
    staleTime: Infinity,
    gcTime: 0,
  });
  if (id === 'new') return <Editor stored={null} etag={null} marks={marks} reload={() => undefined} />;
  if (isPending) return <Loading what="the geofence" />;
  if (error)
    return (
      <MissingOrFailed error={error} retry={() => void refetch()} what="geofence" trail={TRAIL}>
        It was deleted, or belongs to another fleet.
      </MissingOrFailed>
    );
  const { body, etag } = data;
  return <Editor key={etag} stored={body} etag={etag} marks={marks} reload={() => void refetch()} />;
}

interface EditorProps extends Pick<GeofenceEditorProps, 'marks'> {
  /** null: a new one. */
  readonly stored: Geofence | null;
  /** The version that is edited: another one by then is not overwritten. */
  readonly etag: string | null;
  readonly reload: () => void;
}

const SHAPES = [
  { value: 'circle', title: 'Circle' },
  { value: 'polygon', title: 'Polygon' },
] as const;
const NONE: readonly never[] = [];
const TRAIL = <Trail href="/vehicles">Vehicles</Trail>;

function Editor({ stored, etag, marks, reload }: EditorProps) {
  const others = useGeofences().items.filter(({ id }) => id !== stored?.id);
  const [name, setName] = useState(stored?.name ?? '');
  const [draft, setDraft] = useState<GeofenceDraft>(stored ? draftOf(stored.shape) : emptyDraft('circle'));
  // It stays in sight as it was opened, however it is changed.
  const [focus] = useState(() => focusOf(draft, marks));
  const { save, remove } = useGeofenceChanges(stored, etag);
  const lack = useLack('geofences:write');
  usePageTitle(stored?.name ?? 'New geofence');
  const shape = shapeOf(draft);
  const problem = save.error ?? remove.error;

  function submit(event: SyntheticEvent): void {
    event.preventDefault();
    if (shape) save.mutate({ name: name.trim(), shape });
  }

  return (
    <form className="geofence" onSubmit={submit}>
      {TRAIL}
      <div className="title">
        <h1>{stored ? stored.name : 'New geofence'}</h1>
        <Segments
          label="Shape"
          options={SHAPES}
          value={draft.type}
          onChange={(type) => setDraft(stored?.shape.type === type ? draftOf(stored.shape) : emptyDraft(type))}
        />
      </div>
      <FleetMap
        label={`A map to draw the geofence on. The fields below have the same values.`}
        {...{ marks, focus, geofences: others, path: NONE, selected: null }}
        editing={{ draft, onChange: setDraft }}
      />
      <p className="hint" role="status">
        {hintOf(draft)}
      </p>
      <div className="form geofence-fields">
        <label>
          Name
          <input required maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <ShapeFields draft={draft} onChange={setDraft} />
        <Problem error={problem} reload={reload} />
        <div className="actions">
          <button type="submit" className="primary" disabled={lack !== null || shape === null || save.isPending}>
            {stored ? 'Save' : 'Create'}
          </button>
          <Link href="/vehicles">Cancel</Link>
          {stored && <Deletion disabled={lack !== null || remove.isPending} onConfirm={() => remove.mutate()} />}
        </div>
        {lack !== null && <p className="hint">{lack}</p>}
      </div>
    </form>
  );
}

function Deletion(props: Pick<ComponentProps<typeof ConfirmButton>, 'disabled' | 'onConfirm'>) {
  return (
    <ConfirmButton label="Delete" action="Delete permanently" isDangerous {...props}>
      No vehicle enters or leaves it afterwards. The history of its events stays.
    </ConfirmButton>
  );
}

function Problem({ error, reload }: { readonly error: Error | null; readonly reload: () => void }) {
  if (!(error instanceof WaypostApiError && error.status === 412)) return <ActionError error={error} />;
  return (
    <ActionError error={error}>
      Someone else has changed this geofence since you opened it. Nothing was saved.{' '}
      <button type="button" onClick={reload}>
        Show their version
      </button>
    </ActionError>
  );
}

function useGeofenceChanges(stored: Geofence | null, etag: string | null) {
  const client = useClient();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const options = etag === null ? {} : { ifMatch: etag };
  const onSuccess = async (): Promise<void> => {
    await queries.invalidateQueries({ queryKey: ['geofences'] });
    navigate('/vehicles');
  };
  const save = useCreation({
    send: (body: CreateGeofence, { idempotencyKey }) =>
      stored
        ? client.updateGeofence({ id: stored.id, body }, options)
        : client.createGeofence({ body }, { idempotencyKey }),
    onSuccess,
  });
  const remove = useMutation({ mutationFn: () => client.deleteGeofence({ id: stored?.id ?? '' }, options), onSuccess });
  return { save, remove };
}

/** The box around the shape, with room to change it; without one, the vehicles. */
function focusOf(draft: GeofenceDraft, marks: readonly MapMark[]): readonly Place[] {
  if (draft.type === 'polygon') return draft.corners.length > 0 ? draft.corners : marks;
  if (draft.center === null) return marks;
  const { latitude, longitude } = draft.center;
  const degrees = (2 * draft.radiusInMeters) / 111_000;
  return [-1, 1].map((side) => ({ latitude: latitude + side * degrees, longitude: longitude + side * degrees }));
}
