/** How far a partition was projected when it was last looked at, and how far it has to be. Offsets of the log. */
export interface PartitionRebuild {
  readonly topic: string;
  readonly partition: number;
  readonly start: number;
  /** Records to project; later ones are not waited for. */
  readonly goal: number;
  /** null: nothing is projected. */
  readonly at: number | null;
}

export interface RebuildProgress {
  /** Records that are projected, of `total`. */
  readonly done: number;
  readonly total: number;
  /** For a person: each log's share. */
  readonly shares: string;
}

export function progressOf(partitions: readonly PartitionRebuild[]): RebuildProgress {
  const topics = [...new Set(partitions.map(({ topic }) => topic))];
  const all = sumOf(partitions);
  const shares = topics.map((topic) => {
    const { done, total } = sumOf(partitions.filter((one) => one.topic === topic));
    return `${topic} ${String(total === 0 ? 100 : Math.floor((100 * done) / total))} %`;
  });
  return { ...all, shares: shares.join(', ') };
}

function sumOf(partitions: readonly PartitionRebuild[]): { done: number; total: number } {
  let done = 0;
  let total = 0;
  for (const { start, goal, at } of partitions) {
    const records = Math.max(0, goal - start);
    total += records;
    done += Math.min(records, Math.max(0, (at ?? start) - start));
  }
  return { done, total };
}

interface Sample {
  readonly atMs: number;
  readonly done: number;
}

/** Speed over the last so many milliseconds: what the projectors do now, and not what they did at first. */
const WINDOW_MS = 15_000;

export interface RebuildPace {
  /** Notes how much is done at a time (milliseconds) and says how fast it goes and how much longer it takes. */
  note(atMs: number, progress: Pick<RebuildProgress, 'done' | 'total'>): { perSecond: number; leftMs: number | null };
}

export function createRebuildPace(): RebuildPace {
  let samples: Sample[] = [];
  return {
    note(atMs, { done, total }) {
      samples = [...samples.filter((sample) => atMs - sample.atMs <= WINDOW_MS && sample.done <= done), { atMs, done }];
      const first = samples[0] ?? { atMs, done };
      const perSecond = atMs === first.atMs ? 0 : ((done - first.done) / (atMs - first.atMs)) * 1_000;
      return { perSecond, leftMs: perSecond > 0 ? ((total - done) / perSecond) * 1_000 : null };
    },
  };
}

/** `12,345 of 20,000 records, 2,000/s, about 4 s left (webhook.attempts 61 %)` */
export function describeRebuild(
  { done, total, shares }: RebuildProgress,
  { perSecond, leftMs }: { readonly perSecond: number; readonly leftMs: number | null },
): string {
  const left = leftMs === null ? '' : `, about ${duration(leftMs)} left`;
  return `${count(done)} of ${count(total)} records, ${count(Math.round(perSecond))}/s${left} (${shares})`;
}

/** Who only watches has not made the rebuild, if there is one. */
export function describeEnd(of: {
  readonly watch: boolean;
  readonly records: number;
  readonly topics: readonly string[];
}): string {
  const logs = `${count(of.records)} records of ${of.topics.join(' and ')}`;
  return of.watch ? `projected up to the end of the logs: ${logs}` : `rebuilt from ${logs}`;
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}

function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 120 ? `${String(seconds)} s` : `${String(Math.ceil(seconds / 60))} min`;
}
