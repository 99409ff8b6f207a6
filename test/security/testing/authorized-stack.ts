import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import kafkajs from 'kafkajs';
import type { KafkaPermission } from '@waypost/contracts';
import { clientConfig, openDataDir, startDevStack } from '../../../tools/dev-stack/index.js';
import { createAuthority } from './certificates.js';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, Kafka, ResourcePatternTypes } = kafkajs;

export interface AuthorizedStack {
  /** Of an application that logs in as this user; without a name, as one who may do everything. */
  environment(user?: string): Readonly<Record<string, string>>;
  /** As the one who may do everything. */
  publish(topic: string, value: string): Promise<void>;
  port(name: string): Promise<number>;
  /** For what a program keeps. */
  readonly folder: string;
  close(): Promise<void>;
}

interface Options {
  readonly registryUrl: string;
  readonly databaseUrl: string;
  readonly users: Readonly<Record<string, readonly KafkaPermission[]>>;
}

const RESOURCES = {
  topic: AclResourceTypes.TOPIC,
  group: AclResourceTypes.GROUP,
  transactionalId: AclResourceTypes.TRANSACTIONAL_ID,
} as const;

const PATTERNS = { literal: ResourcePatternTypes.LITERAL, prefixed: ResourcePatternTypes.PREFIXED } as const;

/** A broker with an authorizer, where each user may do exactly what is given. Registry and database are others'. */
export async function startAuthorizedStack({ registryUrl, databaseUrl, users }: Options): Promise<AuthorizedStack> {
  const folder = await mkdtemp(join(tmpdir(), 'waypost-authorized-'));
  await chmod(folder, 0o711);
  const authority = await createAuthority('Waypost test');
  const password = randomBytes(12).toString('hex');
  const dataDir = await openDataDir(join(folder, 'data'));
  const stack = await startDevStack({
    dataDir,
    env: process.env,
    external: { registry: { url: registryUrl }, databaseUrl },
    secured: {
      kafka: {
        tls: await authority.issue('server'),
        username: 'superuser',
        password,
        mutualTlsPort: await dataDir.port('kafka-mutual-tls'),
        limitedUsers: Object.keys(users),
      },
    },
  });
  const caFile = join(folder, 'authority.pem');
  await writeFile(caFile, authority.ca);
  const kafka = new Kafka(clientConfig(stack.kafka));
  const admin = kafka.admin();
  await admin.connect();
  await admin.createAcls({
    acl: Object.entries(users).flatMap(([user, permissions]) => permissions.flatMap((one) => aclsOf(user, one))),
  });
  await admin.disconnect();
  return {
    folder,
    environment: (user = 'superuser') => ({
      KAFKA_BROKERS: stack.kafka.brokers.join(','),
      KAFKA_TLS_CA_FILE: caFile,
      KAFKA_SASL_MECHANISM: 'plain',
      KAFKA_SASL_USERNAME: user,
      KAFKA_SASL_PASSWORD: password,
      SCHEMA_REGISTRY_URL: registryUrl,
      DATABASE_URL: databaseUrl,
    }),
    async publish(topic, value) {
      const producer = kafka.producer();
      await producer.connect();
      await producer.send({ topic, messages: [{ key: 'device', value }] });
      await producer.disconnect();
    },
    port: (name) => dataDir.port(name),
    async close() {
      await stack.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function aclsOf(user: string, { resource, pattern, name, operations }: KafkaPermission) {
  return operations.map((operation) => ({
    resourceType: RESOURCES[resource],
    resourceName: name,
    resourcePatternType: PATTERNS[pattern],
    principal: `User:${user}`,
    host: '*',
    operation: AclOperationTypes[operation],
    permissionType: AclPermissionTypes.ALLOW,
  }));
}
