import { randomUUID } from 'node:crypto';
import { afterAll, expect, it } from '@jest/globals';
import { createAvroCodecs, createSchemaRegistry, topics } from '@waypost/contracts';
import { DEFAULT_RULE_SETTINGS, type RuleSet } from '@waypost/domain';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { backtest } from './backtest.js';
import { append, createDataDir, createTerminal } from './testing/topic-commands.js';

const { dataDir, remove } = await createDataDir();
afterAll(remove);

async function notesOf(rules: RuleSet): Promise<string> {
  const { printed, terminal } = createTerminal(dataDir);
  const settings = DEFAULT_RULE_SETTINGS;
  const range = { from: Date.now(), to: null };
  await backtest(terminal, { dataDir, ...range, device: 'none', settings, rules, report: null });
  return printed();
}

it('says which versions of settings it could not read, unless they count for nothing', async () => {
  const { registryUrl } = requireTestStack();
  const { fleetSettings } = createAvroCodecs({ registry: createSchemaRegistry({ url: registryUrl }) });
  await fleetSettings.prepare();
  const fleetId = `cli-${randomUUID()}`;
  const settings = {
    fleetId,
    name: 'Fleet',
    version: 1,
    createdAt: 0,
    updatedAt: 0,
    payloadFormat: 'v1',
    routes: true,
  } as const;
  await append(topics.fleetSettings.name, [
    [fleetId, fleetSettings.encode(settings)],
    [fleetId, Buffer.from('no Avro')],
  ]);
  expect(await notesOf('all')).toMatch(/cannot be decoded.*: \d+ \(fleet\.\w+, partition \d, offset \d+: malformed/);
  expect(await notesOf('positions')).not.toContain('cannot be decoded');
});
