import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type AvroCodecs, createAvroCodecs, topics } from '@waypost/contracts';
import type { WebhookAttempt } from '@waypost/domain';
import { createMemoryBackend } from '@waypost/streams/testing';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { until } from '../../../../test/support/until.js';
import { SendingWatch } from './sending-watch.js';
import { attemptOf, deliveryOf, SUBSCRIPTION } from './testing/replay-harness.js';

const ATTEMPTS = { topic: topics.webhookAttempts.name, partition: 0 };

let codecs: AvroCodecs;
let backend: ReturnType<typeof createMemoryBackend>;
let watch: SendingWatch;
let failures: Error[];
let fetchers: string[];

beforeEach(async () => {
  codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await codecs.webhookAttempts.prepare();
  backend = createMemoryBackend({ topics: { [ATTEMPTS.topic]: 1 }, now: () => 0 });
  failures = [];
  fetchers = [];
  const open = backend.fetcher.bind(backend);
  backend.fetcher = () => {
    const fetcher = open();
    fetchers.push('opened');
    const close = (): Promise<void> => {
      fetchers.push('closed');
      return fetcher.close();
    };
    return { ...fetcher, open: fetcher.open.bind(fetcher), close };
  };
  watch = new SendingWatch({ backend, codecs, partition: 0, onFailure: (error) => void failures.push(error) });
});
afterEach(async () => {
  await watch.close();
  expect(failures).toEqual([]);
});

function attempted(replayId: string | null, more: Partial<WebhookAttempt> = {}): void {
  const attempt = attemptOf(deliveryOf(1, { replayId, series: 1 }), 0, more);
  backend.append(ATTEMPTS, {
    key: Buffer.from(attempt.subscriptionId),
    value: codecs.webhookAttempts.encode(attempt),
  });
}

/** What is unsent once everything appended so far was read, which the end of a separate replay shows. */
async function unsentOf(replayId: string): Promise<number> {
  watch.written('marker', 1);
  attempted('marker');
  await until(() => watch.unsent('marker') === 0);
  return watch.unsent(replayId);
}

describe('the watch over what a replay has sent', () => {
  beforeEach(async () => {
    // A delivery of an earlier run, so it was not counted.
    attempted('replay-1');
    await watch.follow('replay-1', SUBSCRIPTION);
    await watch.follow('marker', SUBSCRIPTION);
    watch.written('replay-1', 3);
  });

  it('counts a delivery as sent with its last attempt', async () => {
    expect(await unsentOf('replay-1')).toBe(3);
    attempted('replay-1', { outcome: 'retrying', nextDueAt: 1 });
    expect(await unsentOf('replay-1')).toBe(3);
    attempted('replay-1', { outcome: 'failed' });
    attempted('replay-1');
    expect(await unsentOf('replay-1')).toBe(1);
  });

  it('counts only what the replay wrote, and never below nothing', async () => {
    attempted(null);
    attempted('another');
    attempted('replay-1', { subscriptionId: 'another' });
    expect(await unsentOf('replay-1')).toBe(3);
    for (let n = 0; n < 5; n++) attempted('replay-1');
    expect(await unsentOf('replay-1')).toBe(0);
    watch.written('replay-1', 2);
    expect(watch.unsent('replay-1')).toBe(2);
    watch.written('unknown', 2);
    expect(watch.unsent('unknown')).toBe(0);
  });

  it('goes on counting when it is asked to follow the same replay again', async () => {
    await watch.follow('replay-1', SUBSCRIPTION);
    expect(watch.unsent('replay-1')).toBe(3);
    expect(fetchers).toEqual(['opened']);
  });

  it('does not read the log while no replay is running', async () => {
    watch.forget('replay-1');
    expect(watch.unsent('replay-1')).toBe(0);
    expect(fetchers).toEqual(['opened']);
    watch.forget('marker');
    await until(() => fetchers.includes('closed'));
    await watch.follow('replay-1', SUBSCRIPTION);
    await watch.follow('marker', SUBSCRIPTION);
    watch.written('replay-1', 1);
    attempted('replay-1');
    expect(await unsentOf('replay-1')).toBe(0);
    expect(fetchers).toEqual(['opened', 'closed', 'opened']);
  });

  it('ends its reading when it is closed', async () => {
    await watch.close();
    await until(() => fetchers.includes('closed'));
    expect(watch.unsent('replay-1')).toBe(0);
  });
});
