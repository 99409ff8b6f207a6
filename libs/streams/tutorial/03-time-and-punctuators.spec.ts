/**
 * Chapter 3: time and punctuators.
 *
 * A processor is called when a record comes. What is to happen at a time, and not because of a record, is the work of a
 * punctuator. There are two clocks to choose from, and the choice decides what a replay will do.
 */
import { describe, expect, it } from '@jest/globals';
import {
  createMemoryBackend,
  createStreamsApp,
  createTopology,
  createTopologyTestDriver,
  jsonSerde,
  keyValueStore,
  type OutgoingRecord,
  readToEnd,
  silentLogger,
} from '@waypost/streams';
import { until } from '../../../test/support/until.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const EIGHT_O_CLOCK = Date.UTC(2030, 0, 1, 8);

// Scans come from a depot. Two things are wanted: a report for each hour of scans, and an alarm when the depot falls
// silent. The report is about the scans, so it follows stream time: the greatest timestamp among the records so far.
// The alarm is about there being no records, so it must follow the wall clock.
const depotWatch = createTopology({
  applicationId: 'depot-watch',
  source: 'scans',
  stores: { scans: keyValueStore({ changelogTopic: 'depot-watch.scans', serde: jsonSerde<number>() }) },
  sinks: {
    reports: { topic: 'reports', partitioner: 'source-partition' },
    alarms: { topic: 'alarms', partitioner: 'source-partition' },
  },
  processor: (context) => {
    const scans = context.store('scans');
    const scansSince = (last: 'report' | 'look'): number => scans.get(last) ?? 0;

    context.schedule({ everyMs: HOUR_MS, type: 'stream-time' }, (streamTimeMs) => {
      const report = `${new Date(streamTimeMs).toISOString()}: ${String(scansSince('report'))} scans`;
      context.forward('reports', { key: null, value: Buffer.from(report) });
      scans.put('report', 0);
    });

    context.schedule({ everyMs: 10 * MINUTE_MS, type: 'wall-clock' }, () => {
      if (scansSince('look') === 0) context.forward('alarms', { key: null, value: Buffer.from('no scan for a while') });
      scans.put('look', 0);
    });

    return {
      process: () => {
        scans.put('report', scansSince('report') + 1);
        scans.put('look', scansSince('look') + 1);
      },
    };
  },
});

function scanAt(timestamp: number) {
  return { key: Buffer.from('parcel-1'), value: Buffer.from('Utrecht'), timestamp };
}

function textOf({ value }: OutgoingRecord): string {
  return String(value);
}

describe('chapter 3: time and punctuators', () => {
  // Stream-time punctuators are due at the full multiples of their interval, here at the full hours, and at the very
  // first record. They are called behind the record that moved stream time there.
  it('calls a stream-time punctuator behind the first record of each interval', async () => {
    const driver = createTopologyTestDriver({ topology: depotWatch });
    for (const minute of [5, 20, 59, 61, 80]) await driver.pipe(scanAt(EIGHT_O_CLOCK + minute * MINUTE_MS));
    expect(driver.readOutput('reports').map(textOf)).toEqual([
      '2030-01-01T08:05:00.000Z: 1 scans',
      '2030-01-01T09:01:00.000Z: 3 scans',
    ]);
  });

  // Nothing happens in a stream that stands still: hours of wall clock are no time at all without records.
  it('lets stream time stand still without records, and never moves it back', async () => {
    const driver = createTopologyTestDriver({ topology: depotWatch });
    await driver.pipe(scanAt(EIGHT_O_CLOCK));
    driver.advanceWallClock(5 * HOUR_MS);
    await driver.pipe(scanAt(EIGHT_O_CLOCK - 3 * HOUR_MS));
    await driver.pipe(scanAt(EIGHT_O_CLOCK + 30 * MINUTE_MS));
    expect(driver.readOutput('reports').map(textOf)).toEqual(['2030-01-01T08:00:00.000Z: 1 scans']);
  });

  // After a night without scans there is one report, not one for each hour of the night.
  it('calls a punctuator that is late for many intervals once', async () => {
    const driver = createTopologyTestDriver({ topology: depotWatch });
    await driver.pipe(scanAt(EIGHT_O_CLOCK));
    await driver.pipe(scanAt(EIGHT_O_CLOCK + 14 * HOUR_MS));
    expect(driver.readOutput('reports').map(textOf)).toEqual([
      '2030-01-01T08:00:00.000Z: 1 scans',
      '2030-01-01T22:00:00.000Z: 1 scans',
    ]);
  });

  // Stream time is committed together with the position. A task that was killed and built again goes on in the same
  // hour: its reports are those of a task that was never disturbed.
  it('reports the same whether or not the task was restarted in between', async () => {
    const timestamps = [5, 20, 59, 61, 80, 200].map((minute) => EIGHT_O_CLOCK + minute * MINUTE_MS);
    const undisturbed = createTopologyTestDriver({ topology: depotWatch });
    const restarted = createTopologyTestDriver({ topology: depotWatch });
    for (const timestamp of timestamps) {
      await undisturbed.pipe(scanAt(timestamp));
      await restarted.pipe(scanAt(timestamp));
      await restarted.restart();
    }
    expect(restarted.readOutput('reports')).toEqual(undisturbed.readOutput('reports'));
  });

  // The wall clock goes on by itself. Its punctuators are due an interval after they were scheduled, and so on. A replay
  // meets another wall clock, so what they do belongs to the present and not to what is derived from the log.
  it('calls a wall-clock punctuator also when nothing comes', async () => {
    const driver = createTopologyTestDriver({ topology: depotWatch, startAt: EIGHT_O_CLOCK });
    await driver.pipe(scanAt(EIGHT_O_CLOCK));
    expect(driver.advanceWallClock(10 * MINUTE_MS)).toEqual([]);
    expect(driver.advanceWallClock(9 * MINUTE_MS)).toEqual([]);
    expect(driver.advanceWallClock(MINUTE_MS).map(textOf)).toEqual(['no scan for a while']);
  });

  // What a punctuator forwards and what it changes goes into the same kind of transaction as what process() does, and
  // an idle task commits it as well. In this application no record ever comes.
  it('commits what punctuators do, also when the task is idle', async () => {
    let now = EIGHT_O_CLOCK;
    const topics = { scans: 1, 'depot-watch.scans': 1, reports: 1, alarms: 1 };
    const backend = createMemoryBackend({ topics, now: () => now });
    const app = createStreamsApp({
      topology: depotWatch,
      backend,
      logger: silentLogger,
      now: () => now,
      onFatal: (error) => {
        throw error;
      },
    });
    await app.start();
    await until(() => Promise.resolve(app.ready()));
    now += 10 * MINUTE_MS;
    const alarms: string[] = [];
    await until(async () => {
      alarms.length = 0;
      await readToEnd(backend, backend.fetcher(), { topic: 'alarms', partition: 0 }, 0, ({ records }) => {
        for (const { value } of records) alarms.push(String(value));
      });
      return alarms.length > 0;
    });
    await app.stop();
    expect(alarms).toEqual(['no scan for a while']);
  });

  // schedule() returns a handle. Schedules are not kept over a restart, so they are made where the processor is made;
  // whether one is still wanted is a question for a store.
  it('ends a schedule that is cancelled', async () => {
    const threeReminders = createTopology({
      applicationId: 'three-reminders',
      source: 'scans',
      stores: { sent: keyValueStore({ changelogTopic: 'three-reminders.sent', serde: jsonSerde<number>() }) },
      sinks: { reminders: { topic: 'reminders', partitioner: 'source-partition' } },
      processor: (context) => {
        const sent = context.store('sent');
        const schedule = context.schedule({ everyMs: MINUTE_MS, type: 'wall-clock' }, () => {
          const number = (sent.get('reminders') ?? 0) + 1;
          if (number > 3) {
            schedule.cancel();
            return;
          }
          sent.put('reminders', number);
          context.forward('reminders', { key: null, value: Buffer.from(`reminder ${String(number)}`) });
        });
        return { process: () => undefined };
      },
    });
    const driver = createTopologyTestDriver({ topology: threeReminders });
    driver.advanceWallClock(MINUTE_MS);
    driver.advanceWallClock(MINUTE_MS);
    await driver.restart();
    for (let minute = 0; minute < 5; minute++) driver.advanceWallClock(MINUTE_MS);
    expect(driver.readOutput('reminders').map(textOf)).toEqual(['reminder 1', 'reminder 2', 'reminder 3']);
  });
});
