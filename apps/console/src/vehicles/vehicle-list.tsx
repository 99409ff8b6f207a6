import { useState } from 'react';
import { Link } from 'wouter';
import { Moment } from '../shared/moment.js';
import type { VehicleMark } from './vehicle-mark.js';

interface VehicleListProps {
  readonly marks: readonly VehicleMark[];
  /** The index of the one that the reader has come to. */
  readonly onSelect: (index: number) => void;
}

/** The vehicles by name; the map has them as well. */
export function VehicleList({ marks, onSelect }: VehicleListProps) {
  const [text, setText] = useState('');
  const words = text.trim().toLowerCase();
  const found = marks.filter(({ label }) => label.toLowerCase().includes(words));
  return (
    <section className="card" aria-labelledby="vehicles-title">
      <div className="title">
        <h2 id="vehicles-title">Reported recently</h2>
        <input
          type="search"
          data-search=""
          aria-label="Find a vehicle by its device id"
          placeholder="Device id"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      </div>
      {found.length === 0 && (
        <p className="hint">
          None of them has this in its id.{' '}
          <Link href={`/vehicles?deviceId=${encodeURIComponent(text.trim())}`}>Look for an older path of {text}</Link>
        </p>
      )}
      <ul className="plain columns">
        {found.map((mark) => (
          <li key={mark.label} data-row="">
            <Link
              href={`/vehicles?deviceId=${encodeURIComponent(mark.label)}`}
              title={mark.label}
              onFocus={() => onSelect(marks.indexOf(mark))}
            >
              {mark.label}
            </Link>{' '}
            <span className="hint">
              {mark.isMoving ? 'moves' : 'stands'}, <Moment iso={mark.time} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
