/** One file that breaks exactly one rule of the import law. */
export interface Plant {
  readonly rule: string;
  readonly file: string;
  readonly code: string;
}

/** A tree that keeps the law in its structure: the plants need it to point at. */
export const LAWFUL_TREE: Readonly<Record<string, string>> = {
  'libs/domain/src/index.ts': `export { rule } from './rule.js';`,
  'libs/domain/src/rule.ts': `import { createHash } from 'node:crypto';\nimport CheapRuler from 'cheap-ruler';\nexport const rule = [createHash, CheapRuler];`,
  'libs/domain/src/rule.spec.ts': `import { readFileSync } from 'node:fs';\nimport fc from 'fast-check';\nexport const used = [readFileSync, fc];`,
  'libs/contracts/src/index.ts': `export { rule as topic } from '@waypost/domain';`,
  'libs/streams/src/index.ts': `export { client } from './backend/client.js';`,
  'libs/streams/src/backend/client.ts': `import { Kafka } from 'kafkajs';\nexport const client = Kafka;`,
  'libs/streams/src/testing/index.ts': `export { client as double } from '../backend/client.js';`,
  'libs/compact-store/src/index.ts': `import { client } from '@waypost/streams';\nexport const store = client;`,
  'libs/database/src/index.ts': `import pg from 'pg';\nexport const database = pg;`,
  'libs/management-store/src/index.ts': `import { database } from '@waypost/database';\nexport const store = database;`,
  'libs/history-store/src/index.ts': `import pg from 'pg';\nexport const store = pg;`,
  'libs/platform/src/index.ts': `import { z } from 'zod';\nimport { client } from '@waypost/streams';\nexport const glue = [z, client];`,
  'libs/egress/src/index.ts': `import { connect } from 'node:net';\nexport const egress = connect;`,
  'apps/one/src/main.ts': `import { glue } from '@waypost/platform';\nimport { part } from './part.js';\nexport const app = [glue, part];`,
  'apps/one/src/part.ts': `export const part = 1;`,
  'apps/two/src/main.ts': `import { egress } from '@waypost/egress';\nexport const app = egress;`,
  'tools/tool.ts': `import { Kafka } from 'kafkajs';\nexport const tool = Kafka;`,
};

export const PLANTS: readonly Plant[] = [
  plant('domain-knows-its-layer', 'libs/domain/src', `import '@waypost/history-store';`),
  plant('domain-uses-its-packages', 'libs/domain/src', `import 'zod';`),
  plant('domain-is-pure', 'libs/domain/src', `import 'node:fs';`),
  plant('contracts-knows-its-layer', 'libs/contracts/src', `import '@waypost/streams';`),
  plant('contracts-uses-its-packages', 'libs/contracts/src', `import 'pg';`),
  plant('streams-knows-its-layer', 'libs/streams/src', `import '@waypost/domain';`),
  plant('streams-uses-its-packages', 'libs/streams/src', `import 'pg';`),
  plant('compact-store-knows-its-layer', 'libs/compact-store/src', `import '@waypost/domain';`),
  plant('compact-store-uses-its-packages', 'libs/compact-store/src', `import 'pg';`),
  plant('database-knows-its-layer', 'libs/database/src', `import '@waypost/domain';`),
  plant('database-uses-its-packages', 'libs/database/src', `import 'zod';`),
  plant('management-store-knows-its-layer', 'libs/management-store/src', `import '@waypost/history-store';`),
  plant('management-store-uses-its-packages', 'libs/management-store/src', `import 'zod';`),
  plant('history-store-knows-its-layer', 'libs/history-store/src', `import '@waypost/contracts';`),
  plant('history-store-uses-its-packages', 'libs/history-store/src', `import 'zod';`),
  plant('platform-knows-its-layer', 'libs/platform/src', `import '@waypost/domain';`),
  plant('platform-uses-its-packages', 'libs/platform/src', `import 'typeorm';`),
  plant('egress-knows-its-layer', 'libs/egress/src', `import '@waypost/platform';`),
  plant('egress-uses-its-packages', 'libs/egress/src', `import 'pg';`),
  plant('libraries-through-their-index', 'apps/one/src', `import '../../../libs/domain/src/rule.js';`),
  plant('tutorials-through-the-index', 'libs/streams/tutorial', `import '../src/backend/client.js';`),
  plant('apps-apart', 'apps/two/src', `import '../../one/src/part.js';`),
  plant('commands-without-nest', 'tools/simulator', `import '@waypost/platform';`),
  plant('production-without-tools', 'apps/one/src', `import '../../../tools/tool.js';`),
  plant('production-without-doubles', 'apps/one/src', `import '@waypost/streams/testing';`),
  plant('production-without-specs', 'apps/one/src', `import './some.spec.js';`),
  plant('production-without-dev-dependencies', 'tools/simulator', `import 'fast-check';`),
  plant('kafkajs-behind-the-backend', 'apps/one/src', `import 'kafkajs';`),
  plant(
    'requests-through-egress',
    'apps/one/src',
    `import { request } from 'node:https';\nexport const send = request;`,
  ),
  plant('requests-to-brokers-for-checks', 'apps/one/src', `import '../../../libs/streams/src/backend/kafka/index.js';`),
  plant('client-knows-its-layer', 'packages/client/src', `import 'node:crypto';`),
  plant('no-cycles', 'apps/one/src', `import type { T } from './other-half.js';\nexport type U = T;`),
  plant('no-orphans', 'apps/one/src', `export const leftOver = 1;`),
  plant('no-unresolvable', 'apps/one/src', `import './does-not-exist.js';`),
];

/** Files that single plants depend on; each is lawful by itself. */
export const PROPS: Readonly<Record<string, string>> = {
  'libs/streams/src/backend/kafka/index.ts': `export const request = 1;`,
  'apps/one/src/some.spec.ts': `export const spec = 1;`,
  'apps/one/src/other-half.ts': `import type { U } from './planted-no-cycles.js';\nexport type T = U[];`,
};

function plant(rule: string, directory: string, code: string): Plant {
  return { rule, file: `${directory}/planted-${rule}.ts`, code };
}
