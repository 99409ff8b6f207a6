import type { TelemetryPing } from '@waypost/domain';
import { createPacer } from '../pings/pacer.js';
import { type PingLineOptions, pingOf } from '../pings/ping-line.js';
import { openPingPublisher, type PingPublisher } from '../pings/ping-publisher.js';
import { fileSizeOf, newestEventTime, type TrackLine, trackLines } from '../pings/track-file.js';
import { stackEnvironment } from '../stack/stack-config.js';
import { kafkaSettings, registrySettings } from '../stack/stack-connections.js';
import { CliError, createProgress, type Terminal, writeLine } from '../terminal/output.js';

export interface PublishOptions {
  readonly dataDir: string;
  readonly file: string;
  readonly fleet: string;
  readonly shiftToNow: boolean;
  readonly keepReceivedTime: boolean;
  readonly rate: number | null;
  readonly now: () => number;
}

/** Publishes a track file in its own order, one chunk after the other, so that each device's order is the file's. */
export async function publish(terminal: Terminal, options: PublishOptions): Promise<void> {
  const stack = await stackEnvironment(options.dataDir);
  const size = await fileSizeOf(options.file);
  const shiftMs = options.shiftToNow ? await shiftOf(options.file, options.now) : 0;
  const publisher = await openPingPublisher(kafkaSettings(stack), registrySettings(stack));
  const progress = createProgress(terminal, size);
  try {
    const line = { fleetId: options.fleet, shiftMs, keepReceivedTime: options.keepReceivedTime };
    const count = await publishLines(publisher, options, line, (bytes, published) => {
      progress.update(bytes, `${String(published)} pings`);
    });
    progress.stop();
    await writeLine(terminal.out, `published ${String(count)}`);
  } finally {
    progress.stop();
    await publisher.close();
  }
}

async function publishLines(
  publisher: PingPublisher,
  { file, rate }: PublishOptions,
  line: PingLineOptions,
  report: (bytesRead: number, published: number) => void,
): Promise<number> {
  const pacer = createPacer(rate);
  let published = 0;
  let chunk: TelemetryPing[] = [];

  async function flush(): Promise<void> {
    await pacer.take(chunk.length);
    await publisher.publish(chunk);
    published += chunk.length;
    chunk = [];
  }

  try {
    for await (const read of trackLines(file)) {
      chunk.push(pingOfLine(file, read, line));
      if (chunk.length < pacer.chunkSize) continue;
      await flush();
      report(read.bytesRead, published);
    }
    await flush();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(`${error.message} ${String(published)} pings before it were published.`, 1, { cause: error });
  }
  return published;
}

function pingOfLine(file: string, { number, row }: TrackLine, options: PingLineOptions): TelemetryPing {
  const result = pingOf(row, options);
  if (result.type === 'ping') return result.ping;
  throw new CliError(`Line ${String(number)} of ${file} is not a ping: ${result.detail}.`);
}

async function shiftOf(file: string, now: () => number): Promise<number> {
  const newest = await newestEventTime(file);
  return newest === null ? 0 : now() - newest;
}
