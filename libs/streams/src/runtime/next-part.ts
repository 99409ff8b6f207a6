import type { RecordBatch } from '../record.js';
import type { TaskInput } from './task-input.js';

/** What a task processes next, and of which of its inputs. */
export interface NextPart {
  readonly input: TaskInput;
  readonly batch: RecordBatch;
}

/**
 * The next batch of a task with one input. Of several inputs: the records with the smallest timestamps, up to where
 * another input continues, as Kafka Streams chooses them. It waits up to `timeoutMs` for an input that is known to be
 * behind, and not at all for one that was at its end: the choice is as good as what has arrived.
 * @param onTake called before the batch of an input is taken, which may fail
 * @returns null: nothing came within `timeoutMs`, or before wakeup()
 */
export async function nextPart(
  inputs: readonly TaskInput[],
  timeoutMs: number,
  onTake: (input: TaskInput) => void,
): Promise<NextPart | null> {
  const [only, ...others] = inputs;
  if (only && others.length === 0) {
    const batch = await only.poll(timeoutMs);
    return batch && { input: only, batch };
  }
  for (const input of inputs) {
    if (input.held) continue;
    onTake(input);
    input.held = await input.take(true);
  }
  const awaited = inputs.filter(({ held, isBehind }) => !held && isBehind);
  if (awaited.length > 0 || inputs.every(({ held }) => !held)) {
    const waitedFor = awaited.length > 0 ? awaited : inputs;
    const hasArrived = await Promise.race(waitedFor.map((input) => input.arrival(timeoutMs)));
    if (!hasArrived) for (const input of awaited) input.isBehind = false;
    return hasArrived ? nextPart(inputs, timeoutMs, onTake) : null;
  }
  return earliest(inputs.flatMap((input) => (input.held ? { input, batch: input.held } : [])));
}

/** Of equal timestamps, and where a batch has no records, the first input goes first. */
function earliest(held: readonly NextPart[]): NextPart | null {
  const [first, second] = [...held].sort((a, b) => timeOf(a) - timeOf(b));
  if (!first) return null;
  const { input, batch } = first;
  const untilMs = second ? timeOf(second) : Infinity;
  const isFirst = !second || held.indexOf(first) < held.indexOf(second);
  const end = batch.records.findIndex(({ timestamp }) => (isFirst ? timestamp > untilMs : timestamp >= untilMs));
  const next = batch.records[end];
  if (!next) {
    input.held = null;
    return first;
  }
  input.held = { ...batch, records: batch.records.slice(end) };
  return { input, batch: { ...batch, records: batch.records.slice(0, end), nextOffset: next.offset } };
}

function timeOf({ batch }: NextPart): number {
  return batch.records[0]?.timestamp ?? -Infinity;
}
