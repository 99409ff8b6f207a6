import type { FixedPing } from '../ping/valid-fix.js';
import type { DeviceState } from '../records/device-state.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import type { RuleSettings } from './rule-settings.js';

export type PositionOutcome = 'sent' | 'inside_window' | 'invalid_fix';

/** an ignition change arms an immediate send. */
export function decidePosition(
  state: DeviceState | null,
  ping: TelemetryPing,
  fix: FixedPing | null,
  ignitionChanged: boolean,
  { positionWindowMs }: Pick<RuleSettings, 'positionWindowMs'>,
): PositionOutcome {
  if (fix === null) return 'invalid_fix';
  if (ignitionChanged || state === null || state.armed || state.lastSentTime === null) return 'sent';
  return ping.eventTime - state.lastSentTime >= positionWindowMs ? 'sent' : 'inside_window';
}
