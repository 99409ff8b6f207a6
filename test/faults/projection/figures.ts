import type pg from 'pg';
import { differences } from '../../support/differences.js';
import type { Row } from './fold-log.js';

/** Counts by what they count, the histograms by bucket among them: `5xx 3`, `latency 40 1`. */
type Counts = ReadonlyMap<string, number>;

/** Where the figures do not count what the expected deliveries are; empty: they do, minute by minute. */
export async function figureProblems(client: pg.Client, expected: Iterable<Row>): Promise<string[]> {
  return compareFigures(await readFigures(client), expected);
}

/** @param stored rows of the table: any number for one key, which are to be added */
export function compareFigures(stored: readonly StoredFigures[], expected: Iterable<Row>): string[] {
  const { missing, unexpected } = differences(
    linesOf(stored.map(({ key, figures }) => [key, countsOf(figures)])),
    linesOf([...expected].flatMap(cellsOf)),
  );
  return [
    ...missing.slice(0, 5).map((line) => `figures without ${line}`),
    ...unexpected.slice(0, 5).map((line) => `figures with ${line}`),
  ];
}

function linesOf(cells: readonly (readonly [key: string, counts: Counts])[]): string[] {
  const sums = new Map<string, Map<string, number>>();
  for (const [key, counts] of cells) {
    const sum = sums.get(key) ?? new Map<string, number>();
    sums.set(key, sum);
    for (const [name, count] of counts) sum.set(name, (sum.get(name) ?? 0) + count);
  }
  return [...sums].map(([key, sum]) => {
    const parts = [...sum].filter(([, count]) => count !== 0).map(([name, count]) => `${name} ${String(count)}`);
    return `${key}: ${parts.sort().join(', ')}`;
  });
}

/** Minutes of a bucket. */
const DAY = 1_440;
const STEPS = [1, 60, DAY];
/** What rows of hours and days have as their step. */
const [HOUR_ROW, DAY_ROW] = [61, 1_441];

/** For its subscription, and for its fleet among all fleets. */
function cellsOf(row: Row): [string, Counts][] {
  const counts = new Map(expectedCounts(row));
  const owners = [
    [row.fleet_id, row.subscription_id, row.event_type],
    ['*', row.fleet_id, ''],
  ];
  return STEPS.flatMap((minutes) => {
    const bucket = Math.floor(Number(row.first_attempt_at) / (minutes * 60_000)) * minutes * 60_000;
    return owners.map((owner): [string, Counts] => [[...owner, minutes, bucket].join(' '), counts]);
  });
}

type Entry = readonly (number | string | null)[];

const UNSENT = ['expired', 'subscription_disabled', 'subscription_deleted'];

function expectedCounts({ status, attempts, created_at: createdAt, delivered_at: deliveredAt }: Row) {
  const entries = JSON.parse(attempts ?? '[]') as Entry[];
  const last = entries.at(-1) ?? [];
  // Attempts and probes have one sequence of numbers, and the first of it is not a retry.
  const sent = entries.filter(([, , , , , , , decision, , probe]) => probe !== 1 && !UNSENT.includes(String(decision)));
  const retried = sent.filter(([number, , , , , , , , probes = 0]) => Number(number) - Number(probes) > 1);
  const counts: [string, number][] = [
    ['started', 1],
    [last[6] === 'expired' ? 'expired' : String(status), status === 'pending' ? 0 : 1],
    ['retries', retried.length],
    ['probes', Number(last[8] ?? 0)],
    ...sent.map(([, , , , statusCode]): [string, number] => [classOf(statusCode), 1]),
    ...retried.map(([, startedAt, dueAt]): [string, number] => [
      bucket('lateness', Number(startedAt) - Number(dueAt)),
      1,
    ]),
  ];
  if (deliveredAt !== null) counts.push([bucket('latency', Number(deliveredAt) - Number(createdAt)), 1]);
  return added(counts);
}

function added(counts: readonly (readonly [string, number])[]): Counts {
  const sums = new Map<string, number>();
  for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count);
  return sums;
}

function classOf(statusCode: number | string | null | undefined): string {
  if (typeof statusCode !== 'number') return 'noResponse';
  return statusCode >= 200 && statusCode < 600 ? `${String(Math.floor(statusCode / 100))}xx` : 'other';
}

/** Up to 1 ms, and then in steps of 10 %. */
function bucket(what: string, durationMs: number): string {
  return `${what} ${String(durationMs <= 1 ? 0 : Math.ceil(Math.log(durationMs) / Math.log(1.1)))}`;
}

const CLASSES = ['2xx', '3xx', '4xx', '5xx', 'other', 'noResponse'];
const OUTCOMES = ['started', 'delivered', 'failed', 'expired', 'retries', 'probes'];

type PackedFigures = [...outcomes: number[], classes: number[], latency: number[], lateness: number[]];

/** Zeros are left out between commas. */
function countsOf(figures: string): Counts {
  const packed = JSON.parse(figures.replaceAll(/(?<=,)(?=[,\]])|(?<=\[)(?=,)/g, '0')) as PackedFigures;
  const [classes = [], latency = [], lateness = []] = packed.slice(OUTCOMES.length) as number[][];
  return added([
    ...OUTCOMES.map((name, at) => [name, Number(packed[at])] as const),
    ...CLASSES.map((name, at) => [name, classes[at] ?? 0] as const),
    ...histogram('latency', latency),
    ...histogram('lateness', lateness),
  ]);
}

/** `bucket, count, ...` */
function histogram(what: string, counts: readonly number[]): [string, number][] {
  return counts.flatMap((at, index): [string, number][] =>
    index % 2 === 0 ? [[`${what} ${String(at)}`, counts[index + 1] ?? 0]] : [],
  );
}

export interface StoredFigures {
  /** Fleet, subscription, event type, minutes of the step, and start of the bucket. Of a fleet among all: `*`, the fleet, and nothing. */
  readonly key: string;
  readonly figures: string;
}

/** The figures of an hour and its minutes; or those of a day, with the minutes that neither it nor an hour counts yet. */
export interface StoredRow {
  /** Fleet, subscription and event type. */
  readonly of: string;
  readonly step: number;
  readonly startMs: number;
  /** Any number, one after another. */
  readonly figures: string;
  /** The same, with the minute of the bucket before each. */
  readonly minutes: string;
}

export function figuresOfRow({ of, step, startMs, figures, minutes }: StoredRow): StoredFigures[] {
  const bucketMinutes = step === DAY_ROW ? DAY : step === HOUR_ROW ? 60 : step;
  const whole = entriesOf(figures).map(([, packed]) => ({
    key: [of, bucketMinutes, startMs].join(' '),
    figures: packed,
  }));
  const counted = step === DAY_ROW ? STEPS : [1];
  const parts = entriesOf(minutes).flatMap(([minute, packed]) =>
    counted.map((each) => {
      const bucket = Math.floor((startMs + minute * 60_000) / (each * 60_000)) * each * 60_000;
      return { key: [of, each, bucket].join(' '), figures: packed };
    }),
  );
  return [...whole, ...parts];
}

function entriesOf(text: string): [minute: number, figures: string][] {
  return [...text.matchAll(/(\d*)(\[.*?\]\])/g)].map(([, minute, packed = '']) => [Number(minute), packed]);
}

async function readFigures(client: pg.Client): Promise<readonly StoredFigures[]> {
  const { rows } = await client.query<StoredRow>(
    `SELECT concat_ws(' ', fleet_id, subscription_id, event_type) AS of, step,
            (extract(epoch FROM bucket_at) * 1000)::float8 AS "startMs", figures, minutes
       FROM delivery_figures`,
  );
  return rows.flatMap(figuresOfRow);
}
