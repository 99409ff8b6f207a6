// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** Settings of one fleet. */
export interface FleetSettings {
  readonly fleetId: string;
  readonly name: string | null;
  /** The format of subscriptions that set none: v1 | legacy-v1 */
  readonly payloadFormat: string;
  /** Whether its devices have events for routes and stops. */
  readonly routes: boolean;
  /** Starts at 1 and grows with every change of the settings. */
  readonly version: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
}
