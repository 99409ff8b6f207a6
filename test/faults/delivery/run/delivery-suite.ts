import { join } from 'node:path';
import { openDataDir, startGuardian, type StackReporter } from '../../../../tools/dev-stack/index.js';
import { builtPrograms } from '../../../../tools/dev-stack/start/programs.js';
import { createOwnRegistry } from '../../processor/cluster/own-registry.js';
import type { DeliveryIntegrityOptions } from '../delivery-integrity-config.js';
import { assertSenderAddresses } from '../senders/sender-address.js';
import { openDeliveryStage, type DeliveryStage } from '../stage/delivery-stage.js';
import { deliveryFaultRun } from './delivery-fault-run.js';
import { describeVerdict, verdictOf, type DeliveryVerdict } from './delivery-verdict.js';

/** One run on a broker of its own. */
export async function runDeliverySuite(
  options: DeliveryIntegrityOptions,
  folder: string,
  reporter: StackReporter,
): Promise<DeliveryVerdict> {
  const { env, instances, dist } = options;
  await assertSenderAddresses();
  const registry = createOwnRegistry({ given: options.registryUrl, env, folder, reporter });
  const dataDir = await openDataDir(join(folder, 'delivery'));
  const guardian = startGuardian({ mark: dataDir.mark, logFile: join(dataDir.logsDir, 'guardian.log') });
  const program =
    dist === undefined ? builtPrograms().apps['webhook-delivery'] : join(dist, 'apps/webhook-delivery/src/main.js');
  const registryUrl = (brokers: readonly string[]): Promise<string> => registry.url(brokers);
  let stage: DeliveryStage | undefined;
  try {
    stage = await reporter.during('Starting a broker, a registry and the receiver', () =>
      openDeliveryStage({ dataDir, guardian, instances, registryUrl, program, env, now: Date.now }),
    );
    return await faultsOn(stage, options, reporter);
  } finally {
    await stage?.stop();
    await registry.stop();
    // It also ends what a failed start has left.
    await guardian.close();
    await dataDir.release();
  }
}

async function faultsOn(
  stage: DeliveryStage,
  { seed, minutes, deliveriesPerSecond, verbose }: DeliveryIntegrityOptions,
  reporter: StackReporter,
): Promise<DeliveryVerdict> {
  const durationMs = minutes * 60_000;
  const note = (line: string): void => {
    reporter.note(line);
  };
  note(
    `Faults on up to ${String(stage.instances.length)} instances for ${String(Math.round(durationMs / 1_000))} s ` +
      `at ${String(deliveriesPerSecond)} deliveries/s, seed ${String(seed)}`,
  );
  const result = await deliveryFaultRun({ stage, seed, durationMs, deliveriesPerSecond, now: Date.now, note, verbose });
  const verdict = verdictOf(result);
  for (const line of describeVerdict(verdict)) note(line);
  return verdict;
}
