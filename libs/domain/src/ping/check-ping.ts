import type { TelemetryPing } from '../records/telemetry-ping.js';
import { MAX_TIME_MS } from '../time/instant.js';

export type PingCheck =
  | { readonly type: 'valid' }
  | { readonly type: 'invalid'; readonly reason: 'invalid_field' | 'key_mismatch'; readonly detail: string };

/** Ids become Kafka keys and index keys: an unbounded one would block a later stage for good. */
export const MAX_ID_LENGTH = 256;

/** The decoder's result for invalid UTF-8, with which different bytes would become one id. */
const REPLACEMENT_CHARACTER = 0xfffd;

const VALID: PingCheck = Object.freeze({ type: 'valid' });

/** Checks required fields only. The rules treat an optional field with a senseless value as not reported. */
export function checkPing(ping: TelemetryPing, recordKey: string | null): PingCheck {
  const { fleetId, deviceId } = ping;
  if (!isId(fleetId)) return invalidId('fleetId', fleetId);
  if (!isId(deviceId)) return invalidId('deviceId', deviceId);
  const check = checkPingOfKnownDevice(ping);
  if (check.type === 'valid' && recordKey !== deviceId) return keyMismatch(deviceId, recordKey);
  return check;
}

/** Skips the ids and the key, which an earlier accepted ping had too. */
export function checkPingOfKnownDevice(ping: Pick<TelemetryPing, 'eventTime' | 'receivedTime'>): PingCheck {
  if (!isTime(ping.eventTime)) return invalidTime('eventTime', ping.eventTime);
  if (!isTime(ping.receivedTime)) return invalidTime('receivedTime', ping.receivedTime);
  return VALID;
}

function isId(id: string): boolean {
  if (id.length === 0 || id.length > MAX_ID_LENGTH) return false;
  for (let index = 0; index < id.length; index++) {
    const code = id.charCodeAt(index);
    if (isControlCharacter(code) || code === REPLACEMENT_CHARACTER) return false;
  }
  return true;
}

/** U+001F among them joins the fields of an eventId. */
function isControlCharacter(code: number): boolean {
  return code < 0x20 || (code >= 0x7f && code <= 0x9f);
}

function isTime(timeMs: number): boolean {
  return Number.isInteger(timeMs) && timeMs >= 0 && timeMs <= MAX_TIME_MS;
}

function invalidId(field: string, id: string): PingCheck {
  return invalid(`${field} ${idFault(id)}`);
}

function idFault(id: string): string {
  if (id.length === 0) return 'is empty';
  if (id.length > MAX_ID_LENGTH) return `is longer than ${String(MAX_ID_LENGTH)} characters`;
  if (id.includes('\ufffd')) return 'contains bytes that are not UTF-8';
  return `holds a control character: ${JSON.stringify(id)}`;
}

function invalidTime(field: string, timeMs: number): PingCheck {
  return invalid(`${field} is not a time from 1970 to 9999 in whole milliseconds: ${String(timeMs)}`);
}

function invalid(detail: string): PingCheck {
  return { type: 'invalid', reason: 'invalid_field', detail };
}

function keyMismatch(deviceId: string, recordKey: string | null): PingCheck {
  const key = recordKey === null ? 'missing' : JSON.stringify(recordKey.slice(0, MAX_ID_LENGTH));
  return { type: 'invalid', reason: 'key_mismatch', detail: `the key is ${key}, deviceId ${JSON.stringify(deviceId)}` };
}
