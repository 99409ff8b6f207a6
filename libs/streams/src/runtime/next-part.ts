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
    [input.held, input.heldFrom] = [await input.take(true), 0];
  }
  const awaited = inputs.filter(({ held, isBehind }) => !held && isBehind);
  if (awaited.length > 0 || inputs.every(({ held }) => !held)) {
    const waitedFor = awaited.length > 0 ? awaited : inputs;
    const hasArrived = await Promise.race(waitedFor.map((input) => input.arrival(timeoutMs)));
    if (!hasArrived) for (const input of awaited) input.isBehind = false;
    return hasArrived ? nextPart(inputs, timeoutMs, onTake) : null;
  }
  return earliest(inputs.filter(({ held }) => held));
}

/** Of equal timestamps, and where a batch has no records, the first input goes first. */
function earliest(holding: readonly TaskInput[]): NextPart | null {
  const [input, second] = [...holding].sort((a, b) => timeOf(a) - timeOf(b));
  if (!input?.held) return null;
  const { held: batch, heldFrom: from } = input;
  const untilMs = second ? timeOf(second) : Infinity;
  const isFirst = !second || holding.indexOf(input) < holding.indexOf(second);
  let end = from;
  for (; end < batch.records.length; end++) {
    const { timestamp = Infinity } = batch.records[end] ?? {};
    if (isFirst ? timestamp > untilMs : timestamp >= untilMs) break;
  }
  const next = batch.records[end];
  // What is left stays where it is: of many short parts, each would copy it.
  [input.held, input.heldFrom] = next ? [batch, end] : [null, 0];
  const records = batch.records.slice(from, end);
  return { input, batch: { ...batch, records, nextOffset: next?.offset ?? batch.nextOffset } };
}

function timeOf({ held, heldFrom }: TaskInput): number {
  return held?.records[heldFrom]?.timestamp ?? -Infinity;
}
