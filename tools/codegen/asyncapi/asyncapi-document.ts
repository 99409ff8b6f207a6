import {
  allTopics,
  DELIVERY_HEADERS,
  type PublishedSchema,
  type TopicDefinition,
  topics as topicTable,
} from '@waypost/contracts';

/** AsyncAPI 3: all topics and webhooks, from the tables that the applications themselves use. */
export function asyncApiDocument(webhooks: ReadonlyMap<string, PublishedSchema>): object {
  const topics = allTopics.map((topic) => [camelCase(topic.name), topic] as const);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Waypost topics and webhooks',
      version: '1.0.0',
      description:
        'Pings of vehicles come in; what matters of them goes out as signed webhooks. All other topics are ' +
        'written by the applications, and may be read by anybody.',
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/json',
    channels: {
      ...Object.fromEntries(topics.map(([id, topic]) => [id, topicChannel(topic)])),
      webhooks: webhookChannel(webhooks),
    },
    operations: {
      ...Object.fromEntries(topics.map(([id, topic]) => [operationName(topic), topicOperation(id, topic)])),
      deliverWebhook: deliverWebhook(),
    },
    components: { messages: webhookMessages(webhooks) },
  };
}

/** Whether this is the one topic that others write. */
function isInput({ name }: TopicDefinition): boolean {
  return name === topicTable.telemetryPings.name;
}

const AVRO = 'application/vnd.apache.avro;version=1.9.0';
const JSON_SCHEMA = 'application/schema+json;version=draft-2020-12';

function topicChannel({ name, key, comment, subject, schema, partitions, configs }: TopicDefinition): object {
  return {
    address: name,
    description: `${comment} Key: ${key}, as UTF-8.`,
    messages: {
      record: {
        name: subject,
        contentType: 'application/vnd.apache.avro',
        description: 'Confluent wire format: a zero byte, the schema id as 32 bits, the Avro data.',
        bindings: { kafka: { key: { type: 'string' }, bindingVersion: '0.5.0' } },
        payload: { schemaFormat: AVRO, schema },
      },
    },
    bindings: { kafka: { topic: name, ...(partitions === 1 ? { partitions } : {}), ...topicBinding(configs) } },
  };
}

/** The settings that the binding has names for; the table of topics has the others too. */
function topicBinding(configs: TopicDefinition['configs']): object {
  const numeric = ['retention.ms', 'max.message.bytes'].filter((name) => configs[name] !== undefined);
  return {
    topicConfiguration: {
      'cleanup.policy': (configs['cleanup.policy'] ?? 'delete').split(','),
      ...Object.fromEntries(numeric.map((name) => [name, Number(configs[name])])),
    },
    bindingVersion: '0.5.0',
  };
}

function topicOperation(id: string, topic: TopicDefinition): object {
  return {
    action: isInput(topic) ? 'receive' : 'send',
    channel: { $ref: `#/channels/${id}` },
    summary: topic.comment,
    messages: [{ $ref: `#/channels/${id}/messages/record` }],
  };
}

function operationName(topic: TopicDefinition): string {
  return `${isInput(topic) ? 'read' : 'write'}${capital(camelCase(topic.name))}`;
}

function webhookChannel(webhooks: ReadonlyMap<string, PublishedSchema>): object {
  return {
    address: null,
    title: "A subscriber's URL",
    description:
      'Each delivery is one POST to the URL of a subscription. Anything but a 2xx within 5 s is repeated or given up, by its kind. ' +
      'The same event has the same id in every repetition.',
    messages: Object.fromEntries(
      [...webhooks.keys()].map((file) => [messageName(file), { $ref: `#/components/messages/${messageName(file)}` }]),
    ),
  };
}

function deliverWebhook(): object {
  return {
    action: 'send',
    channel: { $ref: '#/channels/webhooks' },
    summary: 'Signed, at least once.',
    bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
  };
}

function webhookMessages(webhooks: ReadonlyMap<string, PublishedSchema>): object {
  return Object.fromEntries(
    [...webhooks].map(([file, schema]) => [
      messageName(file),
      {
        name: messageName(file),
        title: schema.title,
        contentType: 'application/json',
        headers: HEADERS,
        payload: { schemaFormat: JSON_SCHEMA, schema },
      },
    ]),
  );
}

const HEADERS = {
  type: 'object',
  required: Object.entries(DELIVERY_HEADERS).flatMap(([name, { isOptional }]) => (isOptional === true ? [] : [name])),
  properties: Object.fromEntries(
    Object.entries(DELIVERY_HEADERS).map(([name, { description, schema }]) => [name, { ...schema, description }]),
  ),
};

function messageName(file: string): string {
  return camelCase(file.slice(0, -'.schema.json'.length));
}
function camelCase(name: string): string {
  return name.replace(/[._-]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
function capital(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}
