import { MAX_ID_LENGTH } from '@waypost/domain';
import { text } from '../http/parameter-readers.js';
import type { ParameterReader } from '../http/query-reader.js';

export const MAX_DEVICE_IDS = 200;
/**
 * Of the list as it stands in the URL. Every page of a walk is asked for with the same list: what is left of the
 * longest URL has room for the other parameters and for a page token, which names a device itself.
 */
export const MAX_WRITTEN_LENGTH = 6_000;

const deviceId = text(MAX_ID_LENGTH);

/** Ids separated by commas, so an id that holds one cannot be asked for. Spaces belong to the id. */
export const deviceIds: ParameterReader<readonly string[]> = (given, written) => {
  if (written.length > MAX_WRITTEN_LENGTH) {
    const message = `must be at most ${String(MAX_WRITTEN_LENGTH)} characters as it stands in the URL: ask for fewer devices at once`;
    return { type: 'problem', message };
  }
  const ids = given.split(',');
  if (ids.length <= MAX_DEVICE_IDS && ids.every((id) => deviceId(id).type === 'value')) {
    return { type: 'value', value: ids };
  }
  const message =
    `must be 1 to ${String(MAX_DEVICE_IDS)} device ids with a comma between them, ` +
    `each of 1 to ${String(MAX_ID_LENGTH)} characters without control characters`;
  return { type: 'problem', message };
};
