import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  draftOf,
  emptyDraft,
  type GeofenceDraft,
  handlesOf,
  shapeOf,
  withClick,
  withHandle,
} from './geofence-draft.js';
import { type Place, project } from './mercator.js';

const places = fc.record({
  latitude: fc.double({ min: -80, max: 80, noNaN: true }),
  longitude: fc.double({ min: -179, max: 179, noNaN: true }),
});

function clicked(type: GeofenceDraft['type'], ...at: Place[]): GeofenceDraft {
  return at.map(project).reduce(withClick, emptyDraft(type));
}

function corner(latitude: number, longitude: number): Place {
  return { latitude, longitude };
}

describe('a geofence that is drawn', () => {
  it('is a circle around the place that was clicked, and no shape before', () => {
    expect(shapeOf(emptyDraft('circle'))).toBeNull();
    fc.assert(
      fc.property(places, (place) => {
        const shape = shapeOf(clicked('circle', place));
        expect(shape).toMatchObject({ type: 'circle', radiusInMeters: 500 });
        expect(shape?.type === 'circle' && shape.center).toEqual({
          latitude: expect.closeTo(place.latitude, 5),
          longitude: expect.closeTo(place.longitude, 5),
        });
      }),
    );
  });

  it('has the radius at which its edge is dropped', () => {
    const circle = clicked('circle', corner(60, 10));
    const [center, edge] = handlesOf(circle);
    if (!center || !edge) throw new Error('A circle has two handles.');
    const twice = { x: center.x + 2 * (edge.x - center.x), y: center.y };
    expect(withHandle(circle, 1, twice)).toMatchObject({ radiusInMeters: 1_000 });
    expect(withHandle(circle, 1, center)).toMatchObject({ radiusInMeters: 1 });
  });

  it('is a polygon from three corners on, in the order of GeoJSON', () => {
    const two = clicked('polygon', corner(10, 20), corner(10, 21));
    expect(shapeOf(two)).toBeNull();
    expect(shapeOf(withClick(two, project(corner(11, 21))))).toEqual({
      type: 'polygon',
      coordinates: [
        [
          [20, 10],
          [21, 10],
          [21, 11],
        ],
      ],
    });
  });

  it('takes a further corner between those that it is next to, so that it does not cross itself', () => {
    const square = clicked('polygon', corner(10, 20), corner(10, 22), corner(12, 22), corner(12, 20));
    const more = withClick(square, project(corner(9.5, 21)));
    expect(more.type === 'polygon' && more.corners.map(({ longitude }) => longitude)).toEqual([20, 21, 22, 22, 20]);
  });

  it('moves the corner that is dragged, and no other', () => {
    const triangle = clicked('polygon', corner(10, 20), corner(10, 22), corner(12, 22));
    const moved = withHandle(triangle, 1, project(corner(10, 23)));
    expect(moved.type === 'polygon' && moved.corners).toEqual([corner(10, 20), corner(10, 23), corner(12, 22)]);
  });

  it('has the same shape when it is opened and saved, holes and all, but for the corner that repeats', () => {
    const ring = [
      [20, 10],
      [22, 10],
      [22, 12],
    ];
    const hole = [
      [21, 10.5],
      [21.5, 10.5],
      [21.5, 11],
    ];
    const stored = { type: 'polygon', coordinates: [[...ring, [20, 10]], hole] } as const;
    expect(shapeOf(draftOf(stored))).toEqual({ type: 'polygon', coordinates: [ring, hole] });
    const circle = { type: 'circle', center: corner(1, 2), radiusInMeters: 30 } as const;
    expect(shapeOf(draftOf(circle))).toEqual(circle);
  });
});
