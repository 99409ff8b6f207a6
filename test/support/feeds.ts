import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateTraffic, type TrafficOptions } from '../../tools/simulator/generate-traffic.js';
import { type PlainOutcome, type PlainPing, plainRules } from './plain-rules.js';
import { type PublishedCounts, readTrack, type RecordedTrack, recordedTracks } from './recorded-tracks.js';

/** Traffic of one fleet, and the events that it must cause. */
export interface Feed {
  readonly name: string;
  readonly fleet: string;
  /** Of `waypost publish`, besides the fleet; writes the file where it has to be made first. */
  publishArguments(folder: string): Promise<readonly string[]>;
  outcome(): PlainOutcome;
  /** null: none are published. */
  readonly published: PublishedCounts | null;
}

/** Traffic that any machine can make: the same options give the same pings. */
export function generatedFeed(fleet: string, options: TrafficOptions, more: readonly PlainPing[] = []): Feed {
  const pings = (): PlainPing[] => [...generateTraffic(options), ...more];
  return {
    name: 'generated traffic',
    fleet,
    async publishArguments(folder) {
      const file = join(folder, `${fleet}.ndjson`);
      await writeFile(
        file,
        pings()
          .map((ping) => JSON.stringify(ping))
          .join('\n'),
      );
      return [file, '--keep-received-time'];
    },
    outcome: () => plainRules(pings(), 'kept'),
    published: null,
  };
}

function recordedFeed(fleet: string, { name, file, counts }: RecordedTrack): Feed {
  return {
    name,
    fleet: `${fleet}-${name}`,
    publishArguments: () => Promise.resolve([file]),
    outcome: () => plainRules(readTrack(file), 'as eventTime'),
    published: counts,
  };
}

export function recordedFeeds(fleet: string, wanted: (name: string) => boolean = () => true): Feed[] {
  return recordedTracks()
    .filter(({ name }) => wanted(name))
    .map((track) => recordedFeed(fleet, track));
}

/** For titles of tests: on which traffic they run, and that recordings are missing where they are. */
export function trafficOf(feeds: readonly Feed[]): string {
  const names = feeds.map(({ name }) => name).join(', ');
  return feeds.some(({ published }) => published !== null) ? names : `${names} (no recordings in ../shared/data)`;
}
