import type { LogPosition } from './attempt-log.js';

const MAX_PARTITIONS = 4_096;
const FORM = /^\d{1,15}(?:-\d{1,15})*$/;

/** The id of a server-sent event: the offsets of all partitions, behind it. */
export function positionText(position: LogPosition): string {
  return position.join('-');
}

/** null: not an id that this service sent. */
export function readPosition(text: string): LogPosition | null {
  if (!FORM.test(text)) return null;
  const position = text.split('-').map(Number);
  return position.length <= MAX_PARTITIONS ? position : null;
}
