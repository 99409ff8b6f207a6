// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

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
