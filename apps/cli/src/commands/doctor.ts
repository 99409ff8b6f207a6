import type { KafkaUser } from '@waypost/contracts';
import { parseConfig, topicConfig } from '@waypost/platform/without-nest';
import { type DatabaseLogin, databaseLogins, examineDatabase } from '../doctor/examine-database.js';
import { examineKafka } from '../doctor/examine-kafka.js';
import { examineRegistry } from '../doctor/examine-registry.js';
import type { Finding } from '../doctor/finding.js';
import { tryCluster } from '../doctor/try-cluster.js';
import { type StackEnvironment, stackEnvironment } from '../stack/stack-config.js';
import { databaseSettings, kafkaSettings, registrySettings } from '../stack/stack-connections.js';
import { CliError, type Terminal, writeLine } from '../terminal/output.js';

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
  const wishes = parseConfig(topicConfig, stack.variables);
  const kafka = kafkaSettings(stack);
  const registry = registrySettings(stack);
  const logins = loginsOf(stack, user);
  const examined = await Promise.all([
    examineKafka(kafka, wishes, user),
    flags.try === true ? tryCluster(kafka, { ...wishes, now }) : [],
    examineRegistry(registry, now, user),
    examineDatabases(logins, now),
  ]);
  const findings = examined.flat();
  for (const { level, about, what, fix } of findings)
    await writeLine(
      terminal.out,
      `${level.padEnd(8)} ${about.padEnd(9)} ${what}${fix === null ? '' : `\n         ${fix}`}`,
    );
  const problems = findings.filter(({ level }) => level === 'problem').length;
  if (problems > 0) throw new CliError(`${String(problems)} must be fixed first.`, 1);
}

const WITHOUT_DATABASE: readonly (KafkaUser | undefined)[] = ['telemetry-processor', 'webhook-delivery'];

function loginsOf(stack: StackEnvironment, user?: KafkaUser): readonly DatabaseLogin[] {
  if (WITHOUT_DATABASE.includes(user)) return [];
  return databaseLogins(databaseSettings(stack), user);
}

async function examineDatabases(logins: readonly DatabaseLogin[], now: () => number): Promise<Finding[]> {
  const findings = (await Promise.all(logins.map((login) => examineDatabase(login, now)))).flat();
  // Both logins see the same server.
  return [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()];
}
