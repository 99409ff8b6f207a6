/** What the rules remember of one device, as the schema `telemetry-processor.device-state-value` has it. */
export interface DeviceState {
  /** Epoch milliseconds of the newest ping taken. */
  readonly newestEventTime: number;
  /** null: never known. */
  readonly ignition: boolean | null;
  /** eventTime of the last position sent, epoch milliseconds. */
  readonly lastSentTime: number | null;
  /** An ignition change waits for its position. */
  readonly armed: boolean;
  /** eventTime of the last valid fix, epoch milliseconds; latitude and longitude are that fix. */
  readonly fixTime: number | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
}
