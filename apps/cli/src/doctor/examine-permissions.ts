import { type KafkaPermission, kafkaPermissions, type KafkaUser } from '@waypost/contracts';
import type { KafkaSettings } from '@waypost/streams';
import { type Finding, ok, problem } from './finding.js';
import { type KafkaRight, missingRights } from './missing-rights.js';

const ABOUT = 'kafka';
/** For a prefix, one name that begins with it is asked for. */
const BEHIND_PREFIX = 'doctor';
const FLAGS = { topic: '--topic', group: '--group', transactionalId: '--transactional-id' } as const;
const OPERATIONS = {
  READ: 'Read',
  WRITE: 'Write',
  CREATE: 'Create',
  DESCRIBE: 'Describe',
  DESCRIBE_CONFIGS: 'DescribeConfigs',
};

interface WantedRight extends KafkaRight {
  readonly permission: KafkaPermission;
}

/** Whether this login may do in Kafka what the list says of that user; by default of all, as one login for everything must. */
export async function examinePermissions(settings: KafkaSettings, user?: KafkaUser): Promise<Finding[]> {
  const wanted = rightsOf(user === undefined ? Object.values(kafkaPermissions).flat() : kafkaPermissions[user]);
  const missing = await missingRights(settings, wanted);
  const principal = settings.sasl !== undefined && 'username' in settings.sasl ? settings.sasl.username : '...';
  if (missing.length > 0) return missing.map((right) => lacking(right, principal));
  return [
    ok(ABOUT, `this login has the permissions that ${user === undefined ? 'all applications need' : `${user} needs`}`),
  ];
}

function rightsOf(permissions: readonly KafkaPermission[]): WantedRight[] {
  const rights = permissions.flatMap((permission) =>
    permission.operations.map((operation): WantedRight => {
      const { resource, name, pattern } = permission;
      return { permission, resource, operation, name: pattern === 'prefixed' ? name + BEHIND_PREFIX : name };
    }),
  );
  // Several applications read the same topic.
  return [...new Map(rights.map((right) => [`${right.resource} ${right.operation} ${right.name}`, right])).values()];
}

function lacking({ permission: { resource, name, pattern }, operation }: WantedRight, principal: string): Finding {
  const isPrefix = pattern === 'prefixed';
  const thing = `${resource === 'transactionalId' ? 'transactional id' : resource} ${name}${isPrefix ? '*' : ''}`;
  return problem(
    ABOUT,
    `this login has no ${operation} on the ${thing}`,
    `kafka-acls --add --allow-principal User:${principal} --operation ${OPERATIONS[operation]} ` +
      `${FLAGS[resource]} ${name}${isPrefix ? ' --resource-pattern-type prefixed' : ''}`,
  );
}
