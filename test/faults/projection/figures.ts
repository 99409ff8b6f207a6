import type pg from 'pg';
import { differences } from '../../support/differences.js';
import type { Row } from './fold-log.js';

type Counts = [started: number, delivered: number, failed: number, expired: number, retries: number, probes: number];

/** Where the figures do not count what the expected deliveries are; empty: they do, minute by minute. */
export async function figureProblems(client: pg.Client, expected: Iterable<Row>): Promise<string[]> {
  const { missing, unexpected } = differences(await readFigures(client), expectedFigures(expected));
  return [
    ...missing.slice(0, 5).map((line) => `figures without ${line}`),
    ...unexpected.slice(0, 5).map((line) => `figures with ${line}`),
  ];
}

function expectedFigures(rows: Iterable<Row>): string[] {
  const cells = new Map<string, Counts>();
  for (const row of rows) {
    for (const minutes of [1, 60, 1_440]) {
      const bucket = Math.floor(Number(row.first_attempt_at) / (minutes * 60_000)) * minutes * 60_000;
      const key = [row.fleet_id, row.subscription_id, row.event_type, minutes, bucket].join(' ');
      const before = cells.get(key) ?? [0, 0, 0, 0, 0, 0];
      cells.set(key, before.map((count, index) => count + (countsOf(row)[index] ?? 0)) as Counts);
    }
  }
  return [...cells].map(([key, counts]) => `${key}: ${counts.join(' ')}`);
}

const UNSENT = ['expired', 'subscription_disabled', 'subscription_deleted'];

function countsOf({ status, attempts }: Row): Counts {
  const entries = JSON.parse(attempts ?? '[]') as (number | string | null)[][];
  const expired = entries.at(-1)?.[6] === 'expired' ? 1 : 0;
  // Attempts and probes have one sequence of numbers, and the first of it is not a retry.
  const sent = entries.filter(([, , , , , , , decision, , probe]) => probe !== 1 && !UNSENT.includes(String(decision)));
  const retried = sent.filter(([number, , , , , , , , probes = 0]) => Number(number) - Number(probes) > 1);
  const end = (of: string) => (status === of && expired === 0 ? 1 : 0);
  return [1, end('delivered'), end('failed'), expired, retried.length, Number(entries.at(-1)?.[8] ?? 0)];
}

async function readFigures(client: pg.Client): Promise<string[]> {
  const sum = (place: number) => `sum((figures::json ->> ${String(place)})::integer)`;
  const { rows } = await client.query<{ line: string }>(
    `SELECT concat_ws(' ', fleet_id, subscription_id, event_type, step, (extract(epoch FROM bucket_at) * 1000)::bigint)
            || ': ' || concat_ws(' ', ${[0, 1, 2, 3, 4, 5].map(sum).join(', ')}) AS line
       FROM delivery_figures
      GROUP BY fleet_id, subscription_id, event_type, step, bucket_at`,
  );
  return rows.map(({ line }) => line);
}
