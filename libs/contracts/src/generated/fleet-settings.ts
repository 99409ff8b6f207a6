// Generated from schemas/fleet.settings-value.avsc by "npm run codegen". Change the schema, not this file.

/** Defaults of one fleet. */
export interface FleetSettings {
  readonly fleetId: string;
  readonly name: string | null;
  /** v1 | legacy-v1 */
  readonly payloadFormat: string;
  /** Whether its devices make events of routes and stops. */
  readonly routes: boolean;
  readonly version: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
}

/** The schema of subject fleet.settings-value. */
export const fleetSettingsSchema = {
  type: 'record',
  namespace: 'waypost',
  name: 'FleetSettings',
  doc: 'Defaults of one fleet (R-14).',
  fields: [
    {
      name: 'fleetId',
      type: 'string',
    },
    {
      name: 'name',
      type: ['null', 'string'],
      default: null,
    },
    {
      name: 'payloadFormat',
      type: 'string',
      doc: 'v1 | legacy-v1',
    },
    {
      name: 'routes',
      type: 'boolean',
      doc: 'Whether its devices make events of routes and stops (R-9).',
      default: false,
    },
    {
      name: 'version',
      type: 'int',
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
