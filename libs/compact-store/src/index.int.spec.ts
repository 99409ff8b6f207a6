import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { packCopy, type PackedPackage } from '../../../test/support/packed-package.js';

const PACKAGE = join(import.meta.dirname, '..');
const MODULES = join(import.meta.dirname, '../../../node_modules');

/** What its user writes: a test of the topology of the README, and the contract of stores. */
const PROGRAM = `
import { compactStore, KeyBuilder } from '@waypost/compact-store';
import { jsonSerde } from '@waypost/streams';
import { createTopologyTestDriver, storeContract } from '@waypost/streams/testing';
import { heaviest } from './readme.js';

const driver = createTopologyTestDriver({ topology: heaviest });
const weigh = (weight) => driver.pipe({ key: Buffer.from('parcel'), value: Buffer.from(weight) });
for (const weight of ['3.5', '4.25', '4']) await weigh(weight);
await driver.restart();
await weigh('4.2');

const layout = {
  byteLength: 4,
  version: '1',
  read: (view, at) => view.getUint32(at),
  write: (view, at, value) => view.setUint32(at, value),
};
const builder = new KeyBuilder();
const keyOf = (key) => builder.reset().appendText(key);
const contract = storeContract({
  ...compactStore({ changelogTopic: 'numbers', serde: jsonSerde(), layout }),
  put: (store, key, value) => store.put(keyOf(key), value),
  delete: (store, key) => store.delete(keyOf(key)),
  get: (store, key) => store.get(keyOf(key)),
});
for (const { check } of contract) check();

console.log(
  JSON.stringify({
    outputs: driver.readOutput('records').map(({ value }) => String(value)),
    kept: driver.store('weights').get(keyOf('parcel')),
    hasRules: contract.length > 0,
  }),
);
`;

let project: string;
let packed: PackedPackage;

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'compact-store-'));
  packed = await packCopy(PACKAGE, project);
  const streams = await packCopy(join(PACKAGE, '../streams'), project);
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const tarballs = [packed.tarball, streams.tarball];
  execFileSync('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...tarballs], {
    cwd: project,
    stdio: 'pipe',
  });
}, 180_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

function compile(file: string): void {
  const types = join(project, 'node_modules/@types');
  mkdirSync(types, { recursive: true });
  symlinkSync(join(MODULES, '@types/node'), join(types, 'node'));
  const strictly = ['--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--target', 'es2023'];
  const args = [join(MODULES, 'typescript/bin/tsc'), ...strictly, '--types', 'node', file];
  execFileSync(process.execPath, args, { cwd: project, stdio: 'inherit' });
}

describe('the packed package beside that of its peer, in an empty project', () => {
  it('brings its code, types, README and license, and leaves nothing built behind', () => {
    const files = readdirSync(join(project, 'node_modules/@waypost/compact-store'), { recursive: true });
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'dist/index.js', 'dist/index.d.ts']));
    expect(files.filter((name) => String(name).includes('spec'))).toEqual([]);
    expect(existsSync(join(packed.source, 'dist'))).toBe(false);
  });

  it('is a store like those of its peer: the topology of the README compiles strictly and runs, and the contract holds', () => {
    const readme = readFileSync(join(project, 'node_modules/@waypost/compact-store/README.md'), 'utf8');
    const [, sample = ''] = /^```ts\n([^]*?)^```/m.exec(readme) ?? [];
    writeFileSync(join(project, 'readme.ts'), sample);
    compile('readme.ts');
    writeFileSync(join(project, 'program.js'), PROGRAM);
    const printed = execFileSync(process.execPath, ['program.js'], { cwd: project, encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual({ outputs: ['3.5', '4.25'], kept: 4.25, hasRules: true });
  });
});
