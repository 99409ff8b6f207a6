// Generated from schemas/fleet.geofences-value.avsc by "npm run codegen". Change the schema, not this file.

/** One version of one geofence of a fleet: a circle or a polygon, the other is null. A deleted one is a tombstone. */
export interface Geofence {
  readonly geofenceId: string;
  readonly fleetId: string;
  readonly name: string;
  readonly circle: GeofenceCircle | null;
  readonly polygon: GeofencePolygon | null;
  /** Counts every change of this geofence, from 1. */
  readonly version: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
}

export interface GeofenceCircle {
  /** WGS-84 degrees. */
  readonly latitude: number;
  /** WGS-84 degrees. */
  readonly longitude: number;
  readonly radiusInMeters: number;
}

export interface GeofencePolygon {
  /** The outer ring, then the holes. A ring closes itself: its last point may repeat its first or not. */
  readonly rings: readonly (readonly GeoPoint[])[];
}

export interface GeoPoint {
  /** WGS-84 degrees. */
  readonly latitude: number;
  /** WGS-84 degrees. */
  readonly longitude: number;
}

/** The schema of subject fleet.geofences-value. */
export const geofenceSchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'Geofence',
  doc: 'One version of one geofence of a fleet (R-8): a circle or a polygon, the other is null. A deleted one is a tombstone.',
  fields: [
    {
      name: 'geofenceId',
      type: 'string',
    },
    {
      name: 'fleetId',
      type: 'string',
    },
    {
      name: 'name',
      type: 'string',
    },
    {
      name: 'circle',
      type: [
        'null',
        {
          type: 'record',
          name: 'GeofenceCircle',
          fields: [
            {
              name: 'latitude',
              type: 'double',
              doc: 'WGS-84 degrees.',
            },
            {
              name: 'longitude',
              type: 'double',
              doc: 'WGS-84 degrees.',
            },
            {
              name: 'radiusInMeters',
              type: 'double',
            },
          ],
        },
      ],
      default: null,
    },
    {
      name: 'polygon',
      type: [
        'null',
        {
          type: 'record',
          name: 'GeofencePolygon',
          fields: [
            {
              name: 'rings',
              doc: 'The outer ring, then the holes. A ring closes itself: its last point may repeat its first or not.',
              type: {
                type: 'array',
                items: {
                  type: 'array',
                  items: {
                    type: 'record',
                    name: 'GeoPoint',
                    fields: [
                      {
                        name: 'latitude',
                        type: 'double',
                        doc: 'WGS-84 degrees.',
                      },
                      {
                        name: 'longitude',
                        type: 'double',
                        doc: 'WGS-84 degrees.',
                      },
                    ],
                  },
                },
              },
            },
          ],
        },
      ],
      default: null,
    },
    {
      name: 'version',
      type: 'int',
      doc: 'Counts every change of this geofence, from 1.',
    },
    {
      name: 'createdAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
    {
      name: 'updatedAt',
      type: {
        type: 'long',
        logicalType: 'timestamp-millis',
      },
    },
  ],
} as const;
