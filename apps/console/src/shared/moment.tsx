import { nowMs } from './clock.js';
import { momentText } from './time-text.js';

/** In the zone of the reader, with UTC on hover. */
export function Moment({ iso }: { readonly iso: string }) {
  return (
    <time dateTime={iso} title={`${iso.replace('T', ' ').replace('Z', '')} UTC`}>
      {momentText(iso, nowMs())}
    </time>
  );
}
