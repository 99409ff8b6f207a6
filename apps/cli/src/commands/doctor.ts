import type { KafkaUser } from '@waypost/contracts';
import { type DatabaseLogin, databaseLogins } from '../doctor/database-checks.js';
import { examineDatabases } from '../doctor/examine-database.js';
import { examineKafka } from '../doctor/examine-kafka.js';
import { examineRegistry } from '../doctor/examine-registry.js';
import { wishesOf } from '../doctor/kafka-scope.js';
import { tryCluster } from '../doctor/try-cluster.js';
import { writeFindings } from '../doctor/write-findings.js';
import { type StackEnvironment, stackEnvironment } from '../stack/stack-config.js';
import { databaseSettings, kafkaSettings, registrySettings } from '../stack/stack-connections.js';
import { CliError, type Terminal } from '../terminal/output.js';

interface DoctorOptions {
  readonly dataDir: string;
  /** Whose login it is, where each application has its own. */
  readonly user?: KafkaUser;
  /** Makes a topic too, writes to it and deletes it. */
  readonly try?: boolean;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Examines cluster, registry and database, and says how to fix what is wrong. Creates nothing that stays.
 * @throws CliError after the lines, when there is a problem
 */
export async function doctor(terminal: Terminal, { dataDir, user, now, ...flags }: DoctorOptions): Promise<void> {
  const stack = await stackEnvironment(dataDir);
  const wishes = wishesOf(stack.variables, user);
  const kafka = kafkaSettings(stack);
  const registry = registrySettings(stack);
  const logins = loginsOf(stack, user);
  const problems = await writeFindings(terminal.out, [
    examineKafka(kafka, wishes, user),
    flags.try === true
      ? tryCluster(kafka, { replicationFactor: wishes.replicationFactor ?? 1, now })
      : Promise.resolve([]),
    examineRegistry(registry, now, user),
    examineDatabases(logins, now),
  ]);
  if (problems > 0) throw new CliError(`${String(problems)} must be fixed first.`, 1);
}

const WITHOUT_DATABASE: readonly (KafkaUser | undefined)[] = ['telemetry-processor', 'webhook-delivery'];

function loginsOf(stack: StackEnvironment, user?: KafkaUser): readonly DatabaseLogin[] {
  if (WITHOUT_DATABASE.includes(user)) return [];
  return databaseLogins(databaseSettings(stack), user);
}
