import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { choosePort } from '../../tools/dev-stack/free-port.js';
import { runningWaypost } from '../support/running-waypost.js';
import { productEnvironment, sharedDataDir } from '../support/waypost-config.js';

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
  'cd examples/receiver-go && SECRET=$SECRET PORT=9000 go run .': 'As above.',
  'npm run test:mutation -- libs/domain': 'Takes hours.',
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

const waitUntilIdle = 'npm run -s waypost -- wait --idle 1';

function blocksOf(page: string): string[] {
  return [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block = '']) => block);
}

function firstLine(block: string): string {
  return (block.split('\n')[0] ?? '').trim();
}

function isRun(block: string): boolean {
  return !(firstLine(block) in NOT_RUN);
}

/** These programs take as long as all other commands, and examples.e2e.spec.ts runs most of them: left to `npm run test:long`. */
const LONG_PAGES = process.env['WAYPOST_LONG_TESTS'] === undefined ? ['examples/README.md'] : [];

/** A reader's terminal: the commands as they are printed, on the stack, ports and folders of this run. */
async function runInTerminal(
  blocks: readonly string[],
): Promise<{ readonly code: number | null; readonly output: string }> {
  const waypost = runningWaypost(sharedDataDir());
  const workDir = join(waypost.dataDir, 'documented');
  mkdirSync(workDir, { recursive: true });
  const receiverPort = String(await choosePort());
  const commands = blocks.map((block) =>
    block
      .replaceAll('.waypost/data', waypost.dataDir)
      .replaceAll('.waypost/', `${workDir}/`)
      .replaceAll('http://127.0.0.1:8080', waypost.info().apiUrl)
      .replaceAll('127.0.0.1:9000', `127.0.0.1:${receiverPort}`)
      .replaceAll('PORT=9000', `PORT=${receiverPort}`),
  );
  const script = [
    'set -emo pipefail',
    `trap 'kill $(jobs -p) 2>/dev/null || true' EXIT`,
    'npm() { if [[ "$*" == "run -s waypost -- "* ]]; then command npm "$@" --data-dir "$DATA_DIR"; else command npm "$@"; fi; }',
    'curl() { command curl --fail-with-body "$@"; }',
    // A reader takes longer between two blocks than a ping to the history.
    ...commands.map((command) => (command.includes('publish') ? `${command}\n${waitUntilIdle}` : command)),
  ].join('\n');
  const child = spawn('bash', ['-c', script], { cwd: ROOT, env: productEnvironment({ DATA_DIR: waypost.dataDir }) });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

describe('the commands of the documentation', () => {
  const sessions = SESSIONS.filter(([page = '']) => !LONG_PAGES.includes(page)).map((pages) => ({
    pages,
    blocks: pages.flatMap(blocksOf).filter(isRun),
  }));
  const outputs = new Map<string, string>();

  it.each(sessions.filter(({ blocks }) => blocks.length > 0))(
    '$pages run as printed',
    async ({ pages: [page = ''], blocks }) => {
      const { code, output } = await runInTerminal(blocks);
      outputs.set(page, output);
      expect(code === 0 ? '' : output).toBe('');
    },
    240_000,
  );

  it('bring two positions to the receiver of the README, and show what the text says', () => {
    const output = outputs.get('README.md') ?? '';
    expect(output.match(/^position \S+Z van-1 [0-9a-f-]{36}$/gm)).toHaveLength(2);
    expect(output).toMatch(/"deviceId":"van-1".*"status":"delivered"/);
    expect(output).toMatch(/^deprecation: true/im);
    expect(output).toMatch(/"deviceId":"van-2".*"status":"failed",.*"attemptCount":5/);
  });

  it('are left out only where that is listed with a reason', () => {
    const printed = SESSIONS.flat().flatMap(blocksOf).map(firstLine);
    expect(Object.keys(NOT_RUN).filter((line) => !printed.includes(line))).toEqual([]);
    const withCommands = trackedPages().filter((page) => blocksOf(page).length > 0);
    expect(Object.keys(PAGES_NOT_RUN).filter((page) => !withCommands.includes(page))).toEqual([]);
  });
});
