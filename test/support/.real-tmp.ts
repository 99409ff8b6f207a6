import { createAvroCodecs, createSchemaRegistry, setUpKafka } from '@waypost/contracts';
import { createKafkaBackend, silentLogger } from '@waypost/streams';
import { openTopicAdmin } from '../../tools/kafka-admin/topic-admin.js';
import { sampleAttempt } from '../../apps/history-projector/src/testing/sample-attempt.js';
const [brokers, registryUrl, mode, from, to] = process.argv.slice(2) as string[];
const kafka = { brokers: [brokers!], clientId: 't' };
if (mode === 'setup') { const admin = await openTopicAdmin(kafka); await setUpKafka({ admin, registryUrl: registryUrl!, partitions: 4, replicationFactor: 1 }); await admin.close(); process.exit(0); }
const backend = createKafkaBackend({ kafka, logger: silentLogger });
const codec = createAvroCodecs({ registry: createSchemaRegistry({ url: registryUrl! }) }).webhookAttempts; await codec.prepare();
const p = backend.producer('w.0'); await p.init();
const t0 = Date.now() - 600_000;
const recs = []; for (let n = Number(from); n < Number(to); n++) for (const a of [1,2] as const) recs.push({ topic: 'webhook.attempts', partition: n % 4, key: Buffer.from('k'), value: codec.encode(sampleAttempt('fleet-a', n, a, t0 + n)) });
for (let i = 0; i < recs.length; i += 100) await p.commit({ records: recs.slice(i, i + 100) });
console.log('produced', recs.length); await p.close(); await backend.close(); process.exit(0);
