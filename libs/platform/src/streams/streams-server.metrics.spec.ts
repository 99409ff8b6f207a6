import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, type Type } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { Registry } from 'prom-client';
import { type RecordBatch, silentLogger, type StreamRecord, type StreamsBackend } from '@waypost/streams';
import { createMemoryBackend } from '@waypost/streams/testing';
import { until } from '../../../../test/support/until.js';
import { PartitionConsumer, StreamTask } from './decorators.js';
import { PartitionContext, StreamContext } from './handler-context.js';
import { BackendRuntime } from './streams-runtime.js';
import { buildStreamApp, double, Doubling, doubling, summing, SummingTask } from './testing/stream-app.js';

const LOGGED_BEFORE_MS = 3_000;
const UNREAD = 7;

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

/** A log with one record, on which this process is a member of the group; the fetches of it leave some records unread. */
async function running(controller: Type, topic: string) {
  const now = Date.now;
  const backend = createMemoryBackend({ topics: { numbers: 1, doubles: 1, amounts: 1 }, now });
  backend.append({ topic, partition: 0 }, { key: null, value: Buffer.from('4'), timestamp: now() - LOGGED_BEFORE_MS });
  const config = { process: { instanceId: undefined } };
  const runtime = new BackendRuntime(leavingUnread(backend), config, silentLogger, now, () => 0);
  const { app } = await buildStreamApp([controller], runtime);
  opened.push(() => app.close());
  await app.listen();
  return async (series: string): Promise<number> => {
    const lines = (await app.get(Registry).metrics()).split('\n');
    return Number(lines.find((line) => line.startsWith(`${series} `))?.split(' ')[1]);
  };
}

function leavingUnread(backend: StreamsBackend): StreamsBackend {
  const limited = Object.create(backend) as StreamsBackend;
  limited.fetcher = () => {
    const fetcher = backend.fetcher();
    return {
      open: (partition, position) => {
        const feed = fetcher.open(partition, position);
        const next = async (): Promise<RecordBatch> => {
          const batch = await feed.next();
          return { ...batch, highWatermark: batch.nextOffset + UNREAD };
        };
        return { next, close: () => feed.close() };
      },
      close: () => fetcher.close(),
    };
  };
  return limited;
}

@Controller()
class Doubler {
  @StreamTask(doubling)
  handle(@Payload() _slice: readonly StreamRecord[], @Ctx() context: StreamContext<Doubling>): Promise<void> {
    return double(context);
  }
}

@Controller()
class Summer {
  @PartitionConsumer(summing)
  handle(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext<SummingTask>): Promise<void> {
    return task.process(batch);
  }
}

describe.each([
  { kind: 'a stream task', controller: Doubler, ...doubling },
  { kind: 'a partition consumer', controller: Summer, ...summing },
])('what the server measures of $kind (R-40)', ({ controller, group }) => {
  it('is the lag that each batch leaves', async () => {
    const valueOf = await running(controller, group.topics[0]);
    await until(async () => expect(await valueOf(`waypost_lag_records{group="${group.id}"}`)).toBe(UNREAD));
  });

  it('is how old its records are when they have been processed', async () => {
    const valueOf = await running(controller, group.topics[0]);
    await until(async () => expect(await valueOf(`waypost_record_age_seconds_count{group="${group.id}"}`)).toBe(1));
    const ageS = await valueOf(`waypost_record_age_seconds_sum{group="${group.id}"}`);
    expect(ageS).toBeGreaterThanOrEqual(LOGGED_BEFORE_MS / 1_000);
  });
});

/** Until the end of the test, which closes the application. */
function hang(): Promise<void> {
  return new Promise((_resolve, reject) => {
    opened.unshift(() => {
      reject(new Error('It is over.'));
      return Promise.resolve();
    });
  });
}

@Controller()
class HangingDoubler {
  @StreamTask(doubling)
  handle(@Payload() _slice: readonly StreamRecord[], @Ctx() _context: StreamContext<Doubling>): Promise<void> {
    return hang();
  }
}

@Controller()
class HangingSummer {
  @PartitionConsumer(summing)
  handle(@Payload() _batch: RecordBatch, @Ctx() _context: PartitionContext<SummingTask>): Promise<void> {
    return hang();
  }
}

describe.each([
  { kind: 'a stream task', controller: HangingDoubler, ...doubling },
  { kind: 'a partition consumer', controller: HangingSummer, ...summing },
])('a batch of $kind that does not end (R-40)', ({ controller, group }) => {
  it('shows in the age of the oldest batch', async () => {
    const valueOf = await running(controller, group.topics[0]);
    await until(async () =>
      expect(await valueOf(`waypost_oldest_batch_seconds{group="${group.id}"}`)).toBeGreaterThan(0),
    );
  });
});
