/** Defaults of one fleet, as the schema `fleet.settings-value` has it. */
export interface FleetSettings {
  readonly fleetId: string;
  readonly name: string | null;
  /** v1 | legacy-v1 */
  readonly payloadFormat: string;
  readonly version: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
}
