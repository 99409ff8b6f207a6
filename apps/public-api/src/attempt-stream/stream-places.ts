/** Each stream reads the whole log. */
const MAX_STREAMS = 64;
const MAX_STREAMS_OF_KEY = 4;

export interface StreamReader {
  readonly fleetId: string;
  readonly keyId: string;
}

export type StreamPlace =
  | { readonly type: 'taken'; readonly leave: () => void }
  /** `whose` has as many streams as it may. */
  | { readonly type: 'full'; readonly whose: 'key' | 'fleet' | 'process'; readonly most: number };

/** The streams of a process: no fleet and no key takes all of them. */
export class StreamPlaces {
  private readonly byKey = new Map<string, number>();
  private readonly byFleet = new Map<string, number>();
  private count = 0;

  constructor(private readonly maxOfFleet: number) {}

  take({ fleetId, keyId }: StreamReader): StreamPlace {
    const counts = [
      { whose: 'key', current: this.byKey.get(keyId) ?? 0, most: MAX_STREAMS_OF_KEY },
      { whose: 'fleet', current: this.byFleet.get(fleetId) ?? 0, most: this.maxOfFleet },
      { whose: 'process', current: this.count, most: MAX_STREAMS },
    ] as const;
    const full = counts.find(({ current, most }) => current >= most);
    if (full) return { type: 'full', whose: full.whose, most: full.most };
    const change = (by: 1 | -1): void => {
      this.count += by;
      add(this.byKey, keyId, by);
      add(this.byFleet, fleetId, by);
    };
    change(1);
    return { type: 'taken', leave: () => change(-1) };
  }
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
