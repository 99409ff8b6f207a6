/**
 * The metadata of a committed position is a list of entries, separated by commas: the names of stores that have state, their
 * topics, and what has a key here.
 * - `time`: the stream time, epoch ms.
 * - `epoch`: the leader epoch of the last processed record.
 * - `writer`: the transactional id under which the partition may be written to.
 */
export type PositionKey = 'time' | 'epoch' | 'writer';

export function positionEntry(key: PositionKey, value: string | number): string {
  return `${key}=${String(value)}`;
}

export function valueIn(metadata: string, key: PositionKey): string | undefined {
  const prefix = `${key}=`;
  return entriesOf(metadata)
    .find((entry) => entry.startsWith(prefix))
    ?.slice(prefix.length);
}

export function entriesWithout(metadata: string, key: PositionKey): string[] {
  return entriesOf(metadata).filter((entry) => !entry.startsWith(`${key}=`));
}

function entriesOf(metadata: string): string[] {
  return metadata === '' ? [] : metadata.split(',');
}
