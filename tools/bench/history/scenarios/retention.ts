import type { DeliveryHistory } from '@waypost/domain';
import { createDeliveryPartitions } from '@waypost/history-store';
import { percentilesOf, type Percentiles } from '../../delivery/analysis/percentiles.js';
import type { BenchContext } from '../bench-context.js';
import { dayName } from '../calendar.js';
import { createRandom } from '../load/random.js';
import type { PageShape } from './page-shapes.js';

export interface RetentionRun {
  /** Rows and bytes of the day. */
  readonly deliveries: number;
  readonly bytes: number;
  /** Until its files are deleted. */
  readonly dropDayMs: number;
  /** Until no new page can see the day: what is left to be done then is deleting files, which nobody waits for. */
  readonly goneMs: number;
  /** Pages that four readers read before and from the drop on until a second behind it. */
  readonly beforeMs: Percentiles;
  readonly duringMs: Percentiles;
  /** Pages that were under way while the day was dropped. */
  readonly underWay: number;
}

const READERS = 4;
const BEFORE_MS = 3_000;
const BEHIND_MS = 1_000;
const LOOK_EVERY_MS = 3;
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
    // A day that is past the retention has been on the disk for two weeks.
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
    const startedAt = now();
    let isOver = false;
    const gone = untilDetached(dataSource, table, () => isOver).then(now);
    const result = await createDeliveryPartitions(dataSource)
      .dropExpiredPartitions(calendar.toMs)
      .finally(() => {
        isOver = true;
      });
    const endedAt = now();
    const goneAt = Math.min(await gone, endedAt);
    await pause(BEHIND_MS);
    reading = false;
    await Promise.all(readers);
    if (result.type !== 'dropped' || result.partitions.join() !== table) throw new Error('The day was not dropped.');
    const took = (some: readonly TimedPage[]): Percentiles =>
      percentilesOf(some.map((page) => page.endedAt - page.startedAt));
    return {
      deliveries: Number(size?.rows ?? 0),
      bytes: Number(size?.bytes ?? 0),
      dropDayMs: endedAt - startedAt,
      goneMs: goneAt - startedAt,
      beforeMs: took(pages.filter((page) => page.endedAt < startedAt)),
      duringMs: took(pages.filter((page) => page.endedAt >= startedAt)),
      underWay: pages.filter((page) => page.startedAt < endedAt && page.endedAt > startedAt).length,
    };
  });
}

/** A table that is being detached belongs to nobody's plan any more, be it that older ones still read it. */
async function untilDetached(
  dataSource: BenchContext['dataSource'],
  table: string,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const attached: unknown[] = await dataSource.query(
      'SELECT 1 FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE relname = $1 AND NOT inhdetachpending',
      [table],
    );
    if (attached.length === 0) return;
    await new Promise((done) => setTimeout(done, LOOK_EVERY_MS));
  }
}
