import { setUpKafka } from '@waypost/contracts';
import { databaseRefusal, runMigrations } from '@waypost/database';
import { parseConfig, topicConfig } from '@waypost/platform/without-nest';
import { openTopicAdmin } from '@waypost/streams';
import { type StackEnvironment, stackEnvironment } from '../stack/stack-config.js';
import { databaseSettings, kafkaSettings, registrySettings } from '../stack/stack-connections.js';
import { CliError, type Terminal, writeLine } from '../terminal/output.js';

export interface SetUpOptions {
  readonly dataDir: string;
  /** Bring the tables of the database up to date too. */
  readonly tables: boolean;
}

/** Creates missing topics and registers the schemas, as every start of the embedded stack does. */
export async function setUp(terminal: Terminal, { dataDir, tables }: SetUpOptions): Promise<void> {
  const stack = await stackEnvironment(dataDir);
  await setUpTopics(terminal, stack);
  if (!tables) return;
  const { url, schemaUrl } = databaseSettings(stack);
  if (schemaUrl === undefined) await setUpTables(terminal, url);
  else await setUpTables(terminal, schemaUrl, 'DATABASE_SCHEMA_URL');
}

/** @param variable where the URL is configured */
export async function setUpTables(terminal: Terminal, databaseUrl: string, variable = 'DATABASE_URL'): Promise<void> {
  const done = await runMigrations(databaseUrl).catch((error: unknown) => {
    const refusal = databaseRefusal(error, variable);
    throw refusal === null ? error : new CliError(refusal, 1, { cause: error });
  });
  await writeLine(terminal.out, `made ${String(done.length)} changes to the tables`);
}

async function setUpTopics(terminal: Terminal, stack: StackEnvironment): Promise<void> {
  const { url: registryUrl, ca: registryCa } = registrySettings(stack);
  const admin = await openTopicAdmin(kafkaSettings(stack));
  try {
    const { partitions, replicationFactor } = parseConfig(topicConfig, stack.variables);
    const result = await setUpKafka({ admin, registryUrl, registryCa, partitions, replicationFactor });
    const topicCount = String(result.createdTopics.length);
    const schemaCount = String(Object.keys(result.schemaIds).length);
    await writeLine(terminal.out, `created ${topicCount} topics, registered ${schemaCount} schemas`);
  } finally {
    await admin.close();
  }
}
