import { openRefill } from '@waypost/management-store';
import { CliError } from '../cli-error.js';
import { stackEnvironment } from '../stack/stack-config.js';
import { writeLine, type Terminal } from '../terminal/output.js';
import { createStatusLine } from '../terminal/progress.js';
import { eachOperations, readContents, type RefillContents } from './refill-contents.js';

/**
 * Fills a database that was lost from the topics: fleets, geofences, subscriptions with their sealed secrets, replays and
 * operational events, with the ids and versions that they had. The history comes back by itself: the projector fills it.
 */
export async function refill(terminal: Terminal, { dataDir }: { readonly dataDir: string }): Promise<void> {
  const stack = await stackEnvironment(dataDir);
  const database = await openRefill(stack.require('DATABASE_URL'));
  const status = createStatusLine(terminal);
  try {
    const contents = await readContents(stack, (topic) => {
      status.show(`reading ${topic}`);
    });
    const result = await database.managedThings(contents);
    if (result.type === 'not_empty') throw notEmpty(result.tables);
    const operations = await eachOperations(stack, (events) => database.operations(events));
    status.clear();
    await report(terminal, contents, operations);
  } finally {
    status.clear();
    await database.close();
  }
}

function notEmpty(tables: readonly string[]): CliError {
  return new CliError(
    `The database is in use: ${tables.join(', ')} hold rows already. A refill is for a database that was lost and made ` +
      'anew; nothing was written.',
  );
}

async function report({ out, err }: Terminal, contents: RefillContents, operations: number): Promise<void> {
  const { fleets, geofences, subscriptions, replays, leftOut } = contents;
  const count = (things: readonly unknown[], one: string, many = `${one}s`): string =>
    `${String(things.length)} ${things.length === 1 ? one : many}`;
  await writeLine(
    out,
    `refilled ${count(fleets, 'fleet')}, ${count(geofences, 'geofence')}, ${count(subscriptions, 'subscription')}, ` +
      `${count(replays, 'replay')}, ${String(operations)} operational events`,
  );
  for (const text of leftOut) await writeLine(err, `left out: ${text}`);
  for (const text of NOT_REFILLED) await writeLine(err, `not refilled: ${text}`);
}

const NOT_REFILLED = [
  'API keys. They are on no topic: make each fleet a new one with "fleet key <id>", and tell its owner.',
  'idempotency keys: a request that is sent again now is done again.',
  'changes that were still in the outbox. Their callers were told that they are not published yet.',
  'the delivery history. history-projector fills it from the log; "rebuild --watch" shows how far it is.',
];
