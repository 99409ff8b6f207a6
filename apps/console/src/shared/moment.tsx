import { nowMs } from './clock.js';
import { exactMomentText, momentText } from './time-text.js';

interface MomentProps {
  readonly iso: string;
  /** To the millisecond. */
  readonly isExact?: boolean;
}

/** In the zone of the reader, with UTC on hover. */
export function Moment({ iso, isExact = false }: MomentProps) {
  return (
    <time dateTime={iso} title={`${iso.replace('T', ' ').replace('Z', '')} UTC`}>
      {(isExact ? exactMomentText : momentText)(iso, nowMs())}
    </time>
  );
}
