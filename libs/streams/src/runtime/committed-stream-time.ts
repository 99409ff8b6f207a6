const PREFIX = 'streamTimeMs=';

/** Stream time as metadata of the committed position: it is part of what a task knows of its past. */
export const streamTimeMetadata = (streamTimeMs: number | null): string =>
  streamTimeMs === null ? '' : `${PREFIX}${String(streamTimeMs)}`;

/** null also for metadata that was written by somebody else. */
export const committedStreamTime = (metadata: string): number | null => {
  if (!metadata.startsWith(PREFIX)) return null;
  const streamTimeMs = Number(metadata.slice(PREFIX.length));
  return Number.isSafeInteger(streamTimeMs) && streamTimeMs >= 0 ? streamTimeMs : null;
};
