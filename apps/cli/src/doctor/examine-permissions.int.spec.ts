import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type KafkaPermission, kafkaPermissions, type KafkaUser, topics } from '@waypost/contracts';
import { kafkaConfig, parseConfig } from '@waypost/platform/without-nest';
import { type AuthorizedStack, startAuthorizedStack } from '../../../../test/security/testing/authorized-stack.js';
import { examineKafka } from './examine-kafka.js';
import { examinePermissions } from './examine-permissions.js';

const USERS = Object.keys(kafkaPermissions) as KafkaUser[];
const wishes = { partitions: 4, replicationFactor: 1 };

/** A permission that a user of the broker lacks; what is said of it, and the options that grant it. */
const LACKING: readonly (readonly [
  KafkaUser,
  KafkaPermission['resource'],
  name: string,
  what: string,
  grant: string,
])[] = [
  ...([
    ['telemetry-processor', 'topic', topics.telemetryPings.name, 'READ', '--operation Read --topic telemetry.pings'],
    [
      'telemetry-processor',
      'topic',
      topics.telemetryRejected.name,
      'WRITE',
      '--operation Write --topic telemetry.rejected',
    ],
    ['history-projector', 'group', 'history-projector', 'READ', '--operation Read --group history-projector'],
    ['set-up', 'topic', topics.fleetEvents.name, 'CREATE', '--operation Create --topic fleet.events'],
  ] as const),
  [
    ...(['webhook-delivery', 'transactionalId', 'webhook-delivery.sender.', 'WRITE'] as const),
    '--operation Write --transactional-id webhook-delivery.sender. --resource-pattern-type prefixed',
  ],
];

function without(resource: string, name: string): string {
  return `without-${resource}-${name}`;
}

describe('The doctor, at a broker with an authorizer', () => {
  let stack: AuthorizedStack;
  beforeAll(async () => {
    const lacking = LACKING.map(([user, resource, name]) => {
      const rest = kafkaPermissions[user].filter((one) => one.resource !== resource || one.name !== name);
      return [without(resource, name), rest] as const;
    });
    stack = await startAuthorizedStack({
      registryUrl: process.env['WAYPOST_TEST_REGISTRY_URL'] ?? '',
      databaseUrl: process.env['WAYPOST_TEST_DATABASE_URL'] ?? '',
      users: { ...kafkaPermissions, ...Object.fromEntries(lacking) },
    });
  });
  afterAll(() => stack.close());

  const as = (login?: string) => parseConfig(kafkaConfig('doctor-test'), stack.environment(login));

  it.each(USERS)('finds nothing that %s lacks if it has what is listed', async (user) => {
    expect(await examinePermissions(as(user), user)).toEqual([
      { level: 'ok', about: 'kafka', what: `this login has the permissions that ${user} needs`, fix: null },
    ]);
  });

  it.each(LACKING)(
    'names what %s lacks, and how to grant it: %s %s',
    async (user, resource, name, operation, grant) => {
      const login = without(resource, name);
      const findings = await examinePermissions(as(login), user);
      expect(findings.map(({ level }) => level)).toContain('problem');
      expect(findings).toContainEqual({
        level: 'problem',
        about: 'kafka',
        what: expect.stringMatching(`no ${operation} on the .* ?${name}`),
        fix: `kafka-acls --add --allow-principal User:${login} ${grant}`,
      });
    },
  );

  it('wants everything of a login that serves all applications, and each thing once', async () => {
    expect(await examinePermissions(as())).toMatchObject([{ level: 'ok' }]);
    const findings = await examinePermissions(as('history-projector'));
    const said = findings.map(({ what }) => what);
    expect(said).toContain('this login has no WRITE on the topic webhook.attempts');
    expect(new Set(said).size).toBe(said.length);
  });

  it('says what it cannot see of the brokers with the login of an application', async () => {
    const findings = await examineKafka(as('public-api'), wishes);
    expect(findings).toContainEqual({
      level: 'warning',
      about: 'kafka',
      what: expect.stringContaining('settings of the brokers'),
      fix: expect.stringContaining('DescribeConfigs'),
    });
  });
});
