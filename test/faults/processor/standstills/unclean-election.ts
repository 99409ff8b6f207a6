import kafkajs from 'kafkajs';
import { topics } from '@waypost/contracts';
import { until } from '../../../support/until.js';
import { drain } from '../../shared/fault-run.js';
import type { SuiteContext } from '../../shared/fault-suite.js';
import { committedPositions, whatIsLeft } from '../progress.js';
import type { Stage } from '../stage.js';
import {
  endsOf,
  expectParked,
  type Standstill,
  startUnderLoad,
  stopProcessors,
  untilMorePings,
  WAIT,
  withAdmin,
} from './standstill.js';

// CommonJS: Node finds this name only in the whole module.
const { ConfigResourceTypes, ConfigSource } = kafkajs;

const TOPIC = topics.telemetryPings.name;
/** Does not hear of the last pings, and leads then. */
const BEHIND = 3;
const OTHERS = [1, 2];

/**
 * telemetry.pings may elect a leader that lacks records, and does: pings are gone that were confirmed and processed, and
 * newer ones have got their offsets before a processor reads on. The output of the lost ones cannot be taken back: what has
 * to hold is that no partition skips the newer ones without a word.
 */
export async function uncleanElection(suite: SuiteContext, stage: Stage): Promise<Standstill> {
  const { kafka, cluster, processors, unexpectedExits } = stage;
  await allowUncleanElection(stage);
  const traffic = await startUnderLoad(suite, stage);
  await cluster.node(BEHIND).kill();
  await untilInSync(stage, ({ isr }) => !isr.includes(BEHIND));
  await untilMorePings(traffic);
  const resume = await traffic.pause();
  await drain(() => whatIsLeft(kafka, processors), WAIT.timeoutMs);
  await stopProcessors(stage);
  const positions = await committedPositions(kafka);
  await Promise.all(OTHERS.map((id) => cluster.node(id).kill()));
  cluster.node(BEHIND).start();
  await untilInSync(stage, ({ leader }) => leader === BEHIND);
  for (const id of OTHERS) cluster.node(id).start();
  await cluster.untilWhole(WAIT.timeoutMs);
  const ends = await endsOf(kafka, TOPIC);
  const truncated = [...positions].flatMap(([partition, offset]) =>
    (ends.get(partition) ?? 0) < offset ? [partition] : [],
  );
  if (truncated.length === 0) return { problems: ['no processed ping was lost'] };
  resume();
  await until(async () => {
    const now = await endsOf(kafka, TOPIC);
    return truncated.every((partition) => (now.get(partition) ?? 0) > (positions.get(partition) ?? 0));
  }, WAIT);
  const problems = await expectParked(stage, traffic, { code: 'LOG_TRUNCATED', partitions: truncated });
  await traffic.stop();
  return { problems: [...problems, ...unexpectedExits] };
}

/** The call replaces all settings of the topic. */
async function allowUncleanElection({ kafka }: Stage): Promise<void> {
  await withAdmin(kafka, async (admin) => {
    const resource = { type: ConfigResourceTypes.TOPIC, name: TOPIC };
    const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [resource] });
    const own = (resources[0]?.configEntries ?? []).filter(
      ({ configSource }) => configSource === ConfigSource.TOPIC_CONFIG,
    );
    const kept = own.map(({ configName, configValue }) => ({ name: configName, value: configValue }));
    const configEntries = [...kept, { name: 'unclean.leader.election.enable', value: 'true' }];
    await admin.alterConfigs({ validateOnly: false, resources: [{ ...resource, configEntries }] });
  });
}

interface PartitionState {
  readonly leader: number;
  readonly isr: readonly number[];
}

/** Resolves when this holds for all partitions of the pings. */
async function untilInSync({ kafka }: Stage, holds: (partition: PartitionState) => boolean): Promise<void> {
  await until(async () => {
    const { topics: found } = await withAdmin(kafka, (admin) => admin.fetchTopicMetadata({ topics: [TOPIC] }));
    return found.every(({ partitions }) => partitions.every(holds));
  }, WAIT);
}
