import { consumerGroups } from '@waypost/contracts';
import { until } from '../../../support/until.js';
import { drain } from '../../shared/fault-run.js';
import type { SuiteContext } from '../../shared/fault-suite.js';
import { PARTITIONS } from '../../shared/stage.js';
import { judge } from '../judge.js';
import { committedPositions, whatIsLeft } from '../progress.js';
import type { Stage } from '../stage.js';
import { expectParked, seek, type Standstill, startUnderLoad, stopProcessors, WAIT, withAdmin } from './standstill.js';

/**
 * The offsets of the group are gone, as brokers delete them some time after the last member has left, and the state is not:
 * each partition has to park instead of starting over. After a seek to where it was the output has to be exact.
 */
export async function offsetExpiry(suite: SuiteContext, stage: Stage): Promise<Standstill> {
  const { kafka, registryUrl, processors, unexpectedExits } = stage;
  const traffic = await startUnderLoad(suite, stage);
  await stopProcessors(stage);
  const positions = await committedPositions(kafka);
  // A static member that has stopped is one until its session is over.
  await until(() => withAdmin(kafka, (admin) => admin.deleteGroups([consumerGroups.telemetryProcessor.id])), WAIT);
  const left = await committedPositions(kafka);
  if (positions.size !== PARTITIONS || left.size > 0)
    return { problems: ['the offsets of the group have not expired'] };
  const problems = await expectParked(stage, traffic, { code: 'POSITION_LOST', partitions: [...positions.keys()] });
  for (const [partition, offset] of positions) problems.push(...(await seek(stage, partition, offset)));
  await traffic.stop();
  const drained = await drain(() => whatIsLeft(kafka, processors), WAIT.timeoutMs);
  const judgment = await judge({ kafka, registryUrl, published: traffic.published() });
  return { ...judgment, problems: [...problems, ...drained.problems, ...unexpectedExits, ...judgment.problems] };
}
