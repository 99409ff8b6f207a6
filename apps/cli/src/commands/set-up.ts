import { setUpKafka } from '@waypost/contracts';
import { parseConfig, topicConfig } from '@waypost/platform';
import { openTopicAdmin } from '@waypost/streams';
import { stackEnvironment } from '../stack/stack-config.js';
import { kafkaSettings, registrySettings } from '../stack/stack-connections.js';
import { type Terminal, writeLine } from '../terminal/output.js';

/** Creates missing topics and registers the schemas, as every start of the embedded stack does. */
export async function setUp(terminal: Terminal, { dataDir }: { readonly dataDir: string }): Promise<void> {
  const stack = await stackEnvironment(dataDir);
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
