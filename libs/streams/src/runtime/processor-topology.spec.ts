import { beforeEach, describe, expect, it } from '@jest/globals';
import { StreamRecord } from '../record.js';
import { keyValueStore } from '../state/key-value-store.js';
import { jsonSerde } from '../state/state-store.js';
import {
  createTopology,
  type NoStores,
  type Processor,
  type ProcessorContext,
  type Punctuation,
  type RecordSlice,
  type Topology,
} from '../topology/topology.js';
import { ProcessorTopology } from './processor-topology.js';

type Context = ProcessorContext<NoStores, 'copies'>;

let context: Context;
let handle: (slice: RecordSlice) => Promise<void>;
let core: ProcessorTopology;

const slices = createTopology({
  applicationId: 'slices',
  source: 'input',
  sinks: { copies: { topic: 'output', partitioner: 'source-partition' } },
  processor: (given: Context) => {
    context = given;
    return { processSlice: (slice) => handle(slice) };
  },
});

function recordsOf(...values: string[]): StreamRecord[] {
  return values.map((value, offset) =>
    StreamRecord.of({ offset, timestamp: 1_000 + offset, key: null, value: Buffer.from(value) }),
  );
}

function forwardAll(slice: RecordSlice): void {
  slice.forEach(({ key, value }) => context.forward('copies', { key, value }));
}

function pendingValues(): string[] {
  return [...core.pending()].map(({ value }) => String(value));
}

beforeEach(() => {
  handle = (slice) => {
    forwardAll(slice);
    return Promise.resolve();
  };
  const partition = { topic: 'input', partition: 0 };
  core = new ProcessorTopology({ topology: slices, partition, partitionCounts: new Map(), now: () => 0 });
});

describe('a processor of slices', () => {
  it('blames no record for what fails after all of them', async () => {
    handle = (slice) => {
      forwardAll(slice);
      return Promise.reject(new Error('too late to blame one'));
    };
    await expect(core.process({ records: recordsOf('a', 'b'), topic: 'input', isFirst: true })).rejects.toThrow(
      'too late',
    );
    expect(core.offset).toBeNull();
  });

  it('is called once with all records', async () => {
    await core.process({ records: recordsOf('a', 'b', 'c'), topic: 'input', isFirst: true });

    expect(pendingValues()).toEqual(['a', 'b', 'c']);
  });

  it('may wait before it processes the records', async () => {
    handle = async (slice) => {
      await new Promise((resolve) => setImmediate(resolve));
      forwardAll(slice);
    };

    await core.process({ records: recordsOf('a'), topic: 'input', isFirst: true });

    expect(pendingValues()).toEqual(['a']);
  });

  it('may give an output the time and the headers of its input', async () => {
    handle = (slice) => {
      slice.forEach(({ key, value, timestamp, headers }) =>
        context.forward('copies', { key, value, timestamp, headers }),
      );
      return Promise.resolve();
    };
    const headers = [{ key: 'trace', value: Buffer.from('t-1') }];
    const first = { offset: 0, timestamp: 1_000, key: null, value: null };
    const records = [first, { ...first, offset: 1, timestamp: 1_001, headers }].map((parts) => StreamRecord.of(parts));

    await core.process({ records, topic: 'input', isFirst: true });

    const outputs = [...core.pending()].map((output) => [output.timestamp, output.headers]);
    expect(outputs).toEqual([
      [1_000, undefined],
      [1_001, headers],
    ]);
  });

  it('fails with its own error', async () => {
    handle = () => Promise.reject(new RangeError('negative'));

    await expect(core.process({ records: recordsOf('a'), topic: 'input', isFirst: true })).rejects.toEqual(
      new RangeError('negative'),
    );
  });

  it('fails when it returns without processing its records', async () => {
    handle = () => Promise.resolve();

    await expect(core.process({ records: recordsOf('a'), topic: 'input', isFirst: true })).rejects.toThrow(
      'slices left records unprocessed',
    );
  });

  it('fails when it processes the same records twice', async () => {
    handle = (slice) => {
      forwardAll(slice);
      forwardAll(slice);
      return Promise.resolve();
    };

    await expect(core.process({ records: recordsOf('a'), topic: 'input', isFirst: true })).rejects.toThrow(
      'slices processed the same records twice',
    );
  });

  it.each<['key' | 'value', unknown]>([
    ['key', 'text'],
    ['value', 'text'],
    ['value', 7],
  ])('cannot forward a %s that is no bytes, as %p from parsed JSON', async (part, any) => {
    const record = { key: null, value: null, [part]: any };
    handle = (slice) => {
      slice.forEach(() => context.forward('copies', record));
      return Promise.resolve();
    };

    await expect(core.process({ records: recordsOf('a'), topic: 'input', isFirst: true })).rejects.toThrow(
      'The key and value of a record are Buffers or null.',
    );
  });

  it('cannot forward before or after a call', async () => {
    const forward = (): void => context.forward('copies', { key: null, value: Buffer.from('late') });
    expect(forward).toThrow('while no records were processed');

    await core.process({ records: recordsOf('a'), topic: 'input', isFirst: true });

    expect(forward).toThrow('while no records were processed');
    expect(pendingValues()).toEqual(['a']);
  });

  it('cannot reach the stores or forward when the task was closed while it waited', async () => {
    handle = (slice) => {
      core.close();
      expect(() => context.store('any' as never)).toThrow('closed');
      forwardAll(slice);
      return Promise.resolve();
    };

    await expect(core.process({ records: recordsOf('a'), topic: 'input', isFirst: true })).rejects.toThrow(
      'The task was closed while it worked.',
    );
  });
});

describe('punctuate()', () => {
  const calls: Punctuation[] = [];
  const reminding = createTopology({
    applicationId: 'reminding',
    source: 'input',
    sinks: { output: { topic: 'output', partitioner: 'source-partition' } },
    processor: (context) => ({
      process: () => undefined,
      punctuate: (time) => {
        calls.push(time);
        context.forward('output', { key: null, value: Buffer.from('due') });
      },
    }),
  });

  it('is called after each slice with the largest timestamp so far, and its output is part of the transaction', async () => {
    const partition = { topic: 'input', partition: 0 };
    const core = new ProcessorTopology({
      topology: reminding,
      partition,
      partitionCounts: new Map(),
      now: () => 9_000,
    });
    core.punctuate();
    const record = (timestamp: number, offset: number) =>
      StreamRecord.of({ offset, timestamp, key: null, value: null });
    await core.process({
      records: [record(1_000, 0), record(3_000, 1), record(2_000, 2)],
      topic: 'input',
      isFirst: true,
    });
    await core.process({ records: [record(2_500, 3)], topic: 'input', isFirst: true });
    expect(calls).toEqual([
      { streamTimeMs: null, wallClockMs: 9_000 },
      { streamTimeMs: 3_000, wallClockMs: 9_000 },
      { streamTimeMs: 3_000, wallClockMs: 9_000 },
    ]);
    expect([...core.pending()].map(({ value }) => String(value))).toEqual(['due', 'due', 'due']);
    // Whether a broker's refusal may be about its output, and so about no record.
    expect(core.hasPunctuated).toBe(true);
    core.commit();
    expect(core.hasPunctuated).toBe(false);
    core.close();
    expect(() => core.punctuate()).toThrow('closed');
  });
});

describe('a processor that returns a promise, as the types allow', () => {
  const later = (): Promise<void> => Promise.reject(new Error('too late'));
  const started = (processor: Processor): ProcessorTopology =>
    new ProcessorTopology({
      topology: createTopology({ applicationId: 'later', source: 'input', sinks: {}, processor: () => processor }),
      partition: { topic: 'input', partition: 0 },
      partitionCounts: new Map(),
      now: () => 0,
    });

  it('is refused at its first record, with what to use instead', async () => {
    // oxlint-disable-next-line typescript/no-misused-promises -- what is under test
    const core = started({ process: later });
    await expect(core.process({ records: recordsOf('a', 'b'), topic: 'input', isFirst: true })).rejects.toMatchObject({
      code: 'INVALID_TOPOLOGY',
      message: 'process() of later returned a promise: wait in processSlice() before its forEach().',
    });
    expect(core.offset).toBe(0);
  });

  it('is refused in punctuate() too', () => {
    // oxlint-disable-next-line typescript/no-misused-promises -- what is under test
    const core = started({ process: () => undefined, punctuate: later });
    expect(() => core.punctuate()).toThrow('punctuate() of later returned a promise');
  });

  it('may return anything else, which is ignored', async () => {
    await started({ process: () => 5 }).process({ records: recordsOf('a'), topic: 'input', isFirst: true });
  });
});

describe('the context of a processor', () => {
  const declared = {
    applicationId: 'app',
    source: 'input',
    stores: { counts: keyValueStore({ changelogTopic: 'counts', serde: jsonSerde<number>() }) },
    sinks: { output: { topic: 'output', partitioner: 'source-partition' } },
  } as const;
  const idle = { process: () => undefined };

  function started(topology: Topology): ProcessorTopology {
    const partition = { topic: 'input', partition: 0 };
    return new ProcessorTopology({ topology, partition, partitionCounts: new Map(), now: () => 0 });
  }

  it('gives a processor its typed stores, and refuses an undeclared name by listing the declared ones', () => {
    const typed = createTopology({
      ...declared,
      processor: (context) => {
        const count: number | undefined = context.store('counts').get('key');
        expect(count).toBeUndefined();
        // @ts-expect-error -- there is no such store
        expect(() => context.store('cuonts')).toThrow(
          'The topology app has no store named cuonts: declare it under "stores", or use one of those declared (counts).',
        );
        // @ts-expect-error -- there is no such sink
        expect(() => context.forward('outptu', { key: null, value: null })).toThrow(
          'The topology app has no sink named outptu: declare it under "sinks", or use one of those declared (output).',
        );
        return idle;
      },
    });
    expect.assertions(3);
    started(typed);
  });

  it('writes only records with a key to a keyed sink', async () => {
    const byKey = createTopology({
      ...declared,
      sinks: { output: { topic: 'output', partitioner: 'key' } },
      processor: (context) => ({ process: ({ key }) => context.forward('output', { key, value: null }) }),
    });
    await expect(started(byKey).process({ records: recordsOf('a'), topic: 'input', isFirst: true })).rejects.toThrow(
      'needs a key to find its partition',
    );
  });
});
