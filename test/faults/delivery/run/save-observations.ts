import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import type { Observations } from '../judge/observations.js';

/** One file for each list, a line for each item, for whoever looks into a run that was broken. */
export async function saveObservations(observations: Observations, fileOf: (name: string) => string): Promise<void> {
  // The receipts are in a file already.
  const { expected, deliveries, attempts, interruptions } = observations;
  for (const [name, items] of Object.entries({ expected, deliveries, attempts, interruptions })) {
    const file = createWriteStream(fileOf(`${name}.jsonl`));
    for (const item of items) if (!file.write(`${JSON.stringify(item)}\n`)) await once(file, 'drain');
    file.end();
    await once(file, 'finish');
  }
}
