import { allConsumerGroups } from '@waypost/contracts';
import type { KafkaSettings } from '@waypost/streams';
import { openAdmin } from '@waypost/streams/admin';
import { CliError } from '../terminal/output.js';

/** @throws {CliError} naming the applications that are members of their groups: they could still change what is moved */
export async function assertApplicationsStopped(settings: KafkaSettings): Promise<void> {
  const admin = await openAdmin(settings);
  try {
    const { groups } = await admin.describeGroups(allConsumerGroups.map(({ id }) => id));
    const busy = new Set(groups.filter(({ members }) => members.length > 0).map(({ groupId }) => groupId));
    const apps = new Set(allConsumerGroups.filter(({ id }) => busy.has(id)).map(({ app }) => app));
    if (apps.size === 0) return;
    throw new CliError(
      `Stop all applications first: ${[...apps].join(', ')} ${apps.size === 1 ? 'is' : 'are'} still in the consumer ` +
        'groups. A process that was killed leaves them after its session time-out.',
    );
  } finally {
    await admin.disconnect();
  }
}
