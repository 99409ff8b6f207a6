import { topics } from '@waypost/contracts';
import { until } from '../../../support/until.js';
import { type LogRecord, readTopic } from '../../shared/committed-log.js';
import type { SuiteContext } from '../../shared/fault-suite.js';
import { PARTITIONS } from '../../shared/stage.js';
import { judge } from '../judge.js';
import { committedPositions } from '../progress.js';
import type { Stage } from '../stage.js';
import {
  INSTANCES,
  type Standstill,
  startUnderLoad,
  untilLogged,
  untilMorePings,
  WAIT,
  withAdmin,
} from './standstill.js';

const MORE_PARTITIONS = 2;
/** What the product promises. */
const NOTICED_WITHIN_MS = 60_000;
const REASON = 'PARTITIONS_DIFFER';

/**
 * telemetry.pings gets partitions under load, and devices move away from their state: each process has to end with the
 * reason, and to refuse the next start. Until then a task knows its partition only: what it has committed has to be what
 * the rules make of that partition up to its position, and the new partitions have to be left alone.
 */
export async function partitionGrowth(suite: SuiteContext, stage: Stage): Promise<Standstill> {
  const { kafka, registryUrl, processors, unexpectedExits, logFiles } = stage;
  const traffic = await startUnderLoad(suite, stage);
  const topic = topics.telemetryPings.name;
  const count = PARTITIONS + MORE_PARTITIONS;
  await withAdmin(kafka, (admin) => admin.createPartitions({ topicPartitions: [{ topic, count }] }));
  const startedAt = performance.now();
  traffic.renewClient();
  const ends = INSTANCES.map((instance) => `instance ${String(instance)} ended unasked: exit code 70`);
  const haveEnded = until(() => ends.every((end) => unexpectedExits.includes(end)), WAIT);
  if (!(await haveEnded.catch(() => false)))
    return { problems: ['not every process has ended because of the partitions'] };
  const noticedAfterMs = Math.round(performance.now() - startedAt);
  await untilMorePings(traffic);
  await traffic.stop();
  for (const instance of INSTANCES) {
    const logFile = logFiles[instance] ?? '';
    await untilLogged(logFile, 'partitions_added', `"partitions":${String(count)}`);
    await untilLogged(logFile, 'app_failed', REASON);
    await untilLogged(logFile, 'app_start_failed', REASON);
    await processors[instance]?.kill();
  }
  const problems = unexpectedExits.filter((exit) => !ends.includes(exit));
  if (noticedAfterMs > NOTICED_WITHIN_MS)
    problems.push(`the new partitions were noticed after ${String(noticedAfterMs)} ms`);
  const input = await readTopic(stage, 'telemetryPings', { problems, secondReader: false });
  if (devicesThatMoved(input) === 0) problems.push('no device has moved to another partition');
  const processed = await committedPositions(kafka);
  const judgment = await judge({ kafka, registryUrl, published: traffic.published(), processed });
  return { ...judgment, noticedAfterMs, problems: [...problems, ...judgment.problems] };
}

function devicesThatMoved(input: readonly LogRecord[]): number {
  const partitions = new Map<string, Set<number>>();
  for (const { key, partition } of input) {
    const device = key?.toString() ?? '';
    partitions.set(device, (partitions.get(device) ?? new Set()).add(partition));
  }
  return [...partitions.values()].filter(({ size }) => size > 1).length;
}
