import type { DeliveryHistory } from '@waypost/domain';
import { createDeliveryPartitions } from '@waypost/history-store';
import { createRandom } from '../../../tools/simulator/random.js';
import { type Percentiles, percentilesOf } from '../../shared/statistics.js';
import { type BenchContext, dayName } from '../bench-context.js';
import type { PageShape } from './page-shapes.js';

export interface RetentionRun {
  /** Rows and bytes of the day. */
  readonly deliveries: number;
  readonly bytes: number;
  /** Until the day has left the history: no page sees it any more, and none that saw it is still being read. */
  readonly dropDayMs: number;
  /** From the same beginning until its files are deleted, which nothing waits for. */
  readonly spaceFreedMs: number;
  /** Pages that four readers read before and from the beginning on until a second after the end. */
  readonly beforeMs: Percentiles;
  readonly duringMs: Percentiles;
  /** Pages that were under way while the day was taken out and its files deleted. */
  readonly underWay: number;
}

const READERS = 4;
const BEFORE_MS = 3_000;
const BEHIND_MS = 1_000;
const SEED = 13;

/** One more day, past the retention: a copy of the first. */
export async function prepareExpiredDay({ dataSource, calendar, reporter }: BenchContext): Promise<void> {
  const { expiredFromMs, fromMs } = calendar;
  await reporter.during('Writing a day that is past the retention', async () => {
    await createDeliveryPartitions(dataSource).ensurePartitions(expiredFromMs, expiredFromMs);
    const columns: { name: string }[] = await dataSource.query(
      "SELECT attname AS name FROM pg_attribute WHERE attrelid = 'deliveries'::regclass AND attnum > 0 AND NOT attisdropped",
    );
    const names = columns.map(({ name }) => name);
    const values = names.map((name) => (name === 'first_attempt_at' ? `${name} - interval '1 day'` : name));
    await dataSource.query(`TRUNCATE deliveries_${dayName(expiredFromMs)}`);
    await dataSource.query(
      `INSERT INTO deliveries (${names.join(', ')}) SELECT ${values.join(', ')} FROM deliveries_${dayName(fromMs)}`,
    );
    // A day that is past the retention has been on the disk for two weeks, and autovacuum is long done with it.
    await dataSource.query(`VACUUM (ANALYZE) deliveries_${dayName(expiredFromMs)}`);
    await dataSource.query('CHECKPOINT');
  });
}

interface TimedPage {
  readonly startedAt: number;
  readonly endedAt: number;
}

/** While the projection goes on and pages of all kinds are read. */
export async function measureRetention(
  { dataSource, calendar, reporter, now }: BenchContext,
  history: DeliveryHistory,
  shapes: readonly PageShape[],
): Promise<RetentionRun> {
  const table = `deliveries_${dayName(calendar.expiredFromMs)}`;
  const [size]: { rows: string; bytes: string }[] = await dataSource.query(
    `SELECT (SELECT count(*) FROM ${table}) AS rows, pg_total_relation_size($1) AS bytes`,
    [table],
  );
  let reading = true;
  const pages: TimedPage[] = [];
  const read = async (reader: number): Promise<void> => {
    const random = createRandom(SEED + reader);
    for (let turn = reader; reading; turn += 1) {
      const asked = shapes[turn % shapes.length]?.query(random);
      if (asked === undefined) return;
      const startedAt = now();
      // From the day that goes on, so that its rows are among what is read.
      await history.findDeliveries({ ...asked, startAt: Math.min(asked.startAt, calendar.expiredFromMs) });
      pages.push({ startedAt, endedAt: now() });
    }
  };
  const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
  return reporter.during('Dropping the day', async () => {
    const readers = Array.from({ length: READERS }, (_, reader) => read(reader));
    await pause(BEFORE_MS);
    const partitions = createDeliveryPartitions(dataSource);
    // As history-projector does before, so that there is a connection: while processors are busy, making one takes longer.
    await partitions.ensurePartitions(calendar.toMs, calendar.toMs);
    const startedAt = now();
    // The first time at which that day is kept for no walk any more, and the next one still is.
    const nowMs = calendar.flowToMs;
    const left = await partitions.detachExpired(nowMs);
    const goneAt = now();
    const freed = await partitions.dropDetached(nowMs);
    const endedAt = now();
    await pause(BEHIND_MS);
    reading = false;
    await Promise.all(readers);
    for (const result of [left, freed])
      if (result.type === 'busy' || result.partitions.join() !== table) throw new Error('The day was not dropped.');
    const took = (some: readonly TimedPage[]): Percentiles =>
      percentilesOf(some.map((page) => page.endedAt - page.startedAt));
    return {
      deliveries: Number(size?.rows ?? 0),
      bytes: Number(size?.bytes ?? 0),
      dropDayMs: goneAt - startedAt,
      spaceFreedMs: endedAt - startedAt,
      beforeMs: took(pages.filter((page) => page.endedAt < startedAt)),
      duringMs: took(pages.filter((page) => page.endedAt >= startedAt)),
      underWay: pages.filter((page) => page.startedAt < endedAt && page.endedAt > startedAt).length,
    };
  });
}
