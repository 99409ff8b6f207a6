import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { runInTerminal, shellBlocks } from '../support/documented-commands.js';
import { runningWaypost } from '../support/running-waypost.js';
import { sharedDataDir } from '../support/waypost-config.js';

const ROOT = new URL('../..', import.meta.url).pathname;

/** Blocks that are not run here, by their first line, and why. */
const NOT_RUN: Readonly<Record<string, string>> = {
  'npm start': 'The stack that all these tests use was started with it.',
  'npm test': 'This test is a part of it.',
  'export KAFKA_BROKERS=kafka-1.example:9092,kafka-2.example:9092':
    'Needs a cluster with SASL: test/security/secured-connections.int.spec.ts has one.',
  'python3 -m venv .venv && .venv/bin/pip install -r examples/producer-python/requirements.txt':
    'examples.e2e.spec.ts runs these programs, where Python, Maven and Go are present.',
  '.venv/bin/pip install ./packages/verify-python': 'As above.',
  '(cd examples/receiver-go && SECRET=$SECRET PORT=9000 go run .)': 'As above.',
  'npm run test:mutation -- libs/domain': 'Takes hours.',
  'curl -s -H "Authorization: Bearer $KEY" -H "X-Waypost-Fleet: $FLEET" "http://127.0.0.1:8080/public/v1/webhook-subscriptions/$ID"':
    'Needs an admin key and the labels of an alert; fleets.controller.int.spec.ts reads fleets that way.',
  'npm run -s waypost -- verify': 'Fails after analysts.e2e.spec.ts, which runs it and plants differences.',
  'npm run -s waypost -- rebuild --yes': 'Empties the history of all tests; test/faults/projection runs it.',
};

/** Pages of which no command is run here, and why. */
const PAGES_NOT_RUN: Readonly<Record<string, string>> = {
  'bench/README.md': 'Benchmarks take minutes each.',
  'bench/api/README.md': 'As above.',
  'bench/delivery/README.md': 'As above.',
  'bench/history/README.md': 'As above.',
  'bench/processor/kafka-streams/README.md': 'As above.',
  'docs/benchmarks.md': 'As above.',
  'docs/isolation.md': 'As above.',
  'test/faults/alerts/README.md': 'Takes twenty minutes.',
  'deploy/README.md': 'Needs a container engine or a cluster; test:deploy validates what it applies.',
  'test/contract/README.md': 'test:long runs the command.',
  'test/faults/delivery/README.md': 'As above.',
  'test/faults/judges/README.md': 'As above.',
  'test/faults/processor/README.md': 'As above.',
  'test/faults/projection/README.md': 'As above.',
  'test/faults/soak/README.md': 'As above.',
};

const TOGETHER = ['README.md', 'docs/tour.md'];
/** Pages whose commands belong to one terminal. */
const SESSIONS: readonly (readonly string[])[] = [TOGETHER, ...otherPages().map((page) => [page])];

function otherPages(): string[] {
  return trackedPages().filter((page) => !TOGETHER.includes(page) && !(page in PAGES_NOT_RUN));
}

function trackedPages(): string[] {
  return execFileSync('git', ['ls-files', '*.md'], { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean).sort();
}

function blocksOf(page: string): string[] {
  return shellBlocks(readFileSync(join(ROOT, page), 'utf8'));
}

function firstLine(block: string): string {
  return (block.split('\n')[0] ?? '').trim();
}

function isRun(block: string): boolean {
  return !(firstLine(block) in NOT_RUN);
}

/** Each push runs what a newcomer runs, `npm run test:long` all. A part of the tour waits for five attempts. */
const LONG_PAGES =
  process.env['WAYPOST_LONG_TESTS'] === undefined
    ? ['docs/tour.md', 'examples/README.md', 'docs/analysts.md', 'docs/operations.md']
    : [];

describe('the commands of the documentation', () => {
  const sessions = SESSIONS.map((all) => all.filter((page) => !LONG_PAGES.includes(page))).map((pages) => ({
    pages,
    blocks: pages.flatMap(blocksOf).filter(isRun),
  }));
  const outputs = new Map<string, string>();

  it.each(sessions.filter(({ blocks }) => blocks.length > 0))(
    '$pages run as printed',
    async ({ pages: [page = ''], blocks }) => {
      const { code, output } = await runInTerminal(runningWaypost(sharedDataDir()), blocks);
      outputs.set(page, output);
      expect(code === 0 ? '' : output).toBe('');
    },
    240_000,
  );

  const itIfLong = LONG_PAGES.length > 0 ? it.skip : it;

  it('bring two positions to the receiver of the README, and show that they are delivered', () => {
    const output = outputs.get('README.md') ?? '';
    expect(output.match(/^position \S+Z van-1 [0-9a-f-]{36}$/gm)).toHaveLength(2);
    expect(output).toMatch(/"deviceId":"van-1".*"status":"delivered"/);
  });

  itIfLong('show in the tour what its text says', () => {
    const output = outputs.get('README.md') ?? '';
    expect(output).toMatch(/^deprecation: true/im);
    expect(output).toMatch(/"deviceId":"van-2".*"status":"failed",.*"attemptCount":5/);
  });

  itIfLong('name each process with what it says of itself, also one that is not ready', () => {
    const output = outputs.get('docs/operations.md') ?? '';
    expect(output).toMatch(/^http:\/\/\S+\n\{.*\}( is not ready, or does not respond)?$/m);
  });

  it('are left out only where that is listed with a reason', () => {
    const printed = SESSIONS.flat().flatMap(blocksOf).map(firstLine);
    expect(Object.keys(NOT_RUN).filter((line) => !printed.includes(line))).toEqual([]);
    const withCommands = trackedPages().filter((page) => blocksOf(page).length > 0);
    expect(Object.keys(PAGES_NOT_RUN).filter((page) => !withCommands.includes(page))).toEqual([]);
  });
});
