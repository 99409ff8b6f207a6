import { useEffect, useState } from 'react';
import type { GeofenceDraft } from './geofence-draft.js';
import type { Place } from './mercator.js';

interface ShapeFieldsProps {
  readonly draft: GeofenceDraft;
  readonly onChange: (draft: GeofenceDraft) => void;
}

/** The shape as figures: for exact ones, and for those who do not draw. */
export function ShapeFields({ draft, onChange }: ShapeFieldsProps) {
  if (draft.type === 'circle')
    return (
      <fieldset className="places">
        <legend>Circle</legend>
        <PlaceFields
          name="Center"
          place={draft.center ?? NOWHERE}
          onChange={(center) => onChange({ ...draft, center })}
        />
        <NumberField
          label="Radius in meters"
          value={draft.radiusInMeters}
          least={1}
          most={1_000_000}
          onChange={(radiusInMeters) => onChange({ ...draft, radiusInMeters })}
        />
      </fieldset>
    );
  const { corners, holes } = draft;
  const change = (next: readonly Place[]): void => onChange({ ...draft, corners: next });
  return (
    <fieldset className="places">
      <legend>Corners, in their order</legend>
      {corners.map((corner, index) => (
        <div key={index} className="corner">
          <PlaceFields
            name={`Corner ${String(index + 1)}`}
            place={corner}
            onChange={(place) => change(corners.with(index, place))}
          />
          <button
            type="button"
            className="quiet"
            aria-label={`Remove corner ${String(index + 1)}`}
            onClick={() => change(corners.toSpliced(index, 1))}
          >
            ✕
          </button>
        </div>
      ))}
      <button type="button" onClick={() => change([...corners, corners.at(-1) ?? NOWHERE])}>
        Add a corner
      </button>
      {holes.length > 0 && <p className="hint">It has {holes.length} holes, which stay unchanged.</p>}
    </fieldset>
  );
}

const NOWHERE: Place = { latitude: 0, longitude: 0 };

interface PlaceFieldsProps {
  readonly name: string;
  readonly place: Place;
  readonly onChange: (place: Place) => void;
}

function PlaceFields({ name, place, onChange }: PlaceFieldsProps) {
  return (
    <>
      <NumberField
        label={`${name}: latitude`}
        value={place.latitude}
        least={-90}
        most={90}
        onChange={(latitude) => onChange({ ...place, latitude })}
      />
      <NumberField
        label={`${name}: longitude`}
        value={place.longitude}
        least={-180}
        most={180}
        onChange={(longitude) => onChange({ ...place, longitude })}
      />
    </>
  );
}

interface NumberFieldProps {
  readonly label: string;
  readonly value: number;
  readonly least: number;
  readonly most: number;
  readonly onChange: (value: number) => void;
}

/** It keeps what is typed, also while that is not a number yet, such as "-". */
function NumberField({ label, value, least, most, onChange }: NumberFieldProps) {
  const [text, setText] = useState(String(value));
  useEffect(() => setText((typed) => (Number(typed) === value && typed !== '' ? typed : String(value))), [value]);
  return (
    <label>
      {label}
      <input
        type="number"
        step="any"
        required
        min={least}
        max={most}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          if (!Number.isNaN(target.valueAsNumber)) onChange(target.valueAsNumber);
        }}
      />
    </label>
  );
}
