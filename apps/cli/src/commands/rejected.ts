import { openRecordPublisher } from '@waypost/platform/without-nest';
import { sortVersions } from '../rejected/newest-versions.js';
import { eachRejected, isVersion, type RejectedRecord } from '../rejected/rejected-records.js';
import type { RejectedSelection } from '../rejected/rejected-selection.js';
import { createRepublisher, type Republisher } from '../rejected/republisher.js';
import { sentBefore } from '../rejected/sent-before.js';
import { type StackEnvironment, stackEnvironment } from '../stack/stack-config.js';
import { kafkaSettings } from '../stack/stack-connections.js';
import { CliError, type Terminal, writeLine } from '../terminal/output.js';

export interface RejectedOptions {
  readonly dataDir: string;
  readonly selection: RejectedSelection;
}

/** Prints the quarantined records, one JSON line each. A copy that was rejected for another reason has its own. */
export async function listRejected(terminal: Terminal, { dataDir, selection }: RejectedOptions): Promise<void> {
  const stack = await stackEnvironment(dataDir);
  const isRepeated = createRepeats();
  await eachRejected(stack, selection, async ({ id, rejectedAt, telemetry, originName }) => {
    if (isRepeated(`${telemetry.reason} ${originName}`)) return;
    const { sourceKey, sourceValue, ...rest } = telemetry;
    const key = sourceKey?.toString('utf8') ?? null;
    await writeLine(terminal.out, JSON.stringify({ id, rejectedAt, ...rest, key, valueBase64: base64(sourceValue) }));
  });
}

/** Sends quarantined records again, except those that it has sent before, and versions that are not the newest any more. */
export async function republishRejected(terminal: Terminal, { dataDir, selection }: RejectedOptions): Promise<void> {
  const stack = await stackEnvironment(dataDir);
  const republisher = createRepublisher((topic) => openRecordPublisher(kafkaSettings(stack), topic));
  const missing = new Set(selection.ids);
  const isRepeated = createRepeats();
  const versions: RejectedRecord[] = [];
  let repeated = 0;
  try {
    const isSent = await sentBefore(stack, selection);
    await eachRejected(stack, selection, async (record) => {
      missing.delete(record.id);
      if (isRepeated(record.originName) || isEmpty(record)) return;
      if (isSent.has(record.originName)) repeated += 1;
      else if (isVersion(record)) versions.push(record);
      else await republisher.add(record);
    });
    await republisher.flush();
    await republishNewest(terminal, { stack, republisher, versions });
  } catch (error) {
    await writeLine(terminal.out, `republished at least ${String(republisher.count())}, then failed`);
    throw error;
  } finally {
    await republisher.close();
  }
  if (repeated > 0)
    await writeLine(terminal.err, `${String(repeated)} left out: republished before, and not rejected again`);
  await writeLine(terminal.out, `republished ${String(republisher.count())}`);
  if (missing.size > 0) throw new CliError(`Not found: ${[...missing].join(', ')}. "rejected list" prints the ids.`);
}

/** Last of all, so that little time passes between the look at a topic and the writing to it. */
async function republishNewest(
  { err }: Terminal,
  work: {
    readonly stack: StackEnvironment;
    readonly republisher: Republisher;
    readonly versions: readonly RejectedRecord[];
  },
): Promise<void> {
  const { newest, superseded } = await sortVersions(work.stack, work.versions);
  for (const record of newest) await work.republisher.add(record);
  await work.republisher.flush();
  for (const { id, telemetry } of superseded) {
    const { sourceTopic, sourcePartition, sourceOffset } = telemetry;
    const place = `${sourceTopic}-${String(sourcePartition)} at offset ${String(sourceOffset)}`;
    await writeLine(err, `superseded: ${id} (${place}), whose key has a newer record or is deleted`);
  }
}

/** Remembers what it has been asked about. */
function createRepeats(): (name: string) => boolean {
  const seen = new Set<string>();
  return (name) => seen.size === seen.add(name).size;
}

/** A corrupt batch that was skipped: it has no bytes to send. */
function isEmpty({ telemetry: { sourceKey, sourceValue } }: RejectedRecord): boolean {
  return sourceKey === null && sourceValue === null;
}

function base64(bytes: Buffer | null): string | null {
  return bytes === null ? null : bytes.toString('base64');
}
