import { createKafkaBackend } from '../../backend/kafka/kafka-backend.js';
import { silentLogger } from '../../logger.js';
import { createStreamsApp } from '../streams-app.js';
import { echoTopology } from './echo-topology.js';

/*
 * The echo in a process of its own, to be killed: `echo-process.ts BROKERS NAME`. It prints the partitions that it parks,
 * one JSON line each, and ends with its standard input.
 */
const [brokers = '', name = ''] = process.argv.slice(2);

process.stdin.resume().on('end', () => process.exit(0));
await createStreamsApp({
  topology: echoTopology(name, () => false),
  backend: createKafkaBackend({
    kafka: { brokers: brokers.split(','), clientId: 'echo-process' },
    logger: silentLogger,
    now: Date.now,
  }),
  sessionTimeoutMs: 6_000,
  logger: { ...silentLogger, error: (_event, fields) => void process.stdout.write(`${JSON.stringify(fields)}\n`) },
  now: Date.now,
  onFatal: () => process.exit(70),
}).start();
