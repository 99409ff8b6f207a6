/**
 * `positions`: what the peer does as well. `unasked`: all rules, and no fleet has a geofence or wants routes. `all`: every fleet
 * has a thousand geofences and wants routes.
 */
export type RulesAtWork = 'positions' | 'unasked' | 'all';

const RULES_TEXT: Readonly<Record<RulesAtWork, string>> = {
  positions: '',
  unasked: ', nothing asked for',
  all: ', all rules',
};

/** The product: telemetry-processor. */
export interface OurConfiguration {
  readonly side: 'ours';
  readonly label: string;
  readonly processes: number;
  readonly rules: RulesAtWork;
}

/** The peer on Kafka Streams. */
export interface TheirConfiguration {
  readonly side: 'theirs';
  readonly label: string;
  readonly processes: number;
  readonly threads: number;
  readonly store: 'inmemory' | 'rocksdb';
  readonly commitMs: number;
  /** Any of Kafka's, for a process by its number. */
  readonly settings: (instance: number) => readonly string[];
  readonly heapMiB: number;
}

export type Configuration = OurConfiguration | TheirConfiguration;

const HEAP_MIB = 512;

export function ours(processes: number, rules: RulesAtWork = 'positions'): OurConfiguration {
  const label = `Waypost, ${counted(processes, 'process', 'processes')}${RULES_TEXT[rules]}`;
  return { side: 'ours', label, processes, rules };
}

/** In memory and without a cache, its best for this work, unless said otherwise. */
export function theirs(
  threads: number,
  { note, ...more }: Partial<Omit<TheirConfiguration, 'side' | 'label' | 'threads'>> & { readonly note?: string } = {},
): TheirConfiguration {
  const store = more.store ?? 'inmemory';
  const parts = [counted(threads, 'thread', 'threads'), store === 'inmemory' ? 'in memory' : 'RocksDB'];
  return {
    side: 'theirs',
    label: ['Kafka Streams', ...parts, ...(note === undefined ? [] : [note])].join(', '),
    ...{ threads, store, processes: 1, commitMs: 100, settings: () => [], heapMiB: HEAP_MIB },
    ...more,
  };
}

function counted(count: number, one: string, many: string): string {
  return `${String(count)} ${count === 1 ? one : many}`;
}
