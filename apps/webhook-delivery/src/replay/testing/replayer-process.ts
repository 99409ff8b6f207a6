import { createAvroCodecs, createSchemaRegistry } from '@waypost/contracts';
import { createKafkaBackend, silentLogger } from '@waypost/streams';
import { subscriptionOf } from '../../../../../test/support/samples.js';
import { nodeTimers } from '../../process/timers.js';
import { SelectionMemory } from '../selection-memory.js';
import { createReplayer } from './replay-harness.js';

/*
 * The replayer alone in a process of its own, to be killed: `replayer-process.ts BROKERS REGISTRY_URL`. It ends with its
 * standard input, and with exit code 70 when it fails. Every subscription is active.
 */

const RUNTIME_FAILED = 70;

const [brokers = '', registryUrl = ''] = process.argv.slice(2);
const codecs = createAvroCodecs({ registry: createSchemaRegistry({ url: registryUrl }) });
await Promise.all([codecs.webhookDeliveries.prepare(), codecs.replayProgress.prepare()]);

process.stdin.resume().on('end', () => process.exit(0));
await createReplayer({
  backend: createKafkaBackend({
    kafka: { brokers: brokers.split(','), clientId: 'replayer-process' },
    logger: silentLogger,
    now: Date.now,
  }),
  codecs,
  directory: { get: (id) => subscriptionOf({ id }), isPaused: () => false, caughtUp: () => Promise.resolve() },
  metrics: { deliveriesReplayed: () => undefined, unfinishedChanged: () => undefined },
  logger: silentLogger,
  nowMs: Date.now,
  monotonicMs: () => performance.now(),
  timers: nodeTimers,
  // Nothing is sent here, so nothing could be waited for.
  maxUnsent: 10_000_000,
  selections: new SelectionMemory(Infinity),
  instanceId: 'replayer-process',
  onFatal: () => process.exit(RUNTIME_FAILED),
}).start();
