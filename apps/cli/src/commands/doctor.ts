import { parseConfig, topicConfig } from '@waypost/platform';
import { examineDatabase } from '../doctor/examine-database.js';
import { examineKafka } from '../doctor/examine-kafka.js';
import { examineRegistry } from '../doctor/examine-registry.js';
import { stackEnvironment } from '../stack/stack-config.js';
import { kafkaSettings, registrySettings } from '../stack/stack-connections.js';
import { CliError, type Terminal, writeLine } from '../terminal/output.js';

interface DoctorOptions {
  readonly dataDir: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Examines cluster, registry and database, and says how to fix what is wrong. Creates nothing.
 * @throws CliError after the lines, when there is a problem
 */
export async function doctor(terminal: Terminal, { dataDir, now }: DoctorOptions): Promise<void> {
  const stack = await stackEnvironment(dataDir);
  const wishes = parseConfig(topicConfig, stack.variables);
  const examined = await Promise.all([
    examineKafka(kafkaSettings(stack), wishes),
    examineRegistry(registrySettings(stack), now),
    examineDatabase(stack.require('DATABASE_URL'), now),
  ]);
  const findings = examined.flat();
  for (const { level, about, what, fix } of findings)
    await writeLine(
      terminal.out,
      `${level.padEnd(8)} ${about.padEnd(9)} ${what}${fix === null ? '' : `\n         ${fix}`}`,
    );
  const problems = findings.filter(({ level }) => level === 'problem').length;
  if (problems > 0) throw new CliError(`${String(problems)} found that must be fixed first.`, 1);
}
