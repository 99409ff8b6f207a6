import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { choosePort } from '../../tools/dev-stack/free-port.js';
import { projectRoot } from '../../tools/dev-stack/project-root.js';
import type { RunningWaypost } from './running-waypost.js';
import { productEnvironment } from './waypost-config.js';

const waitUntilIdle = 'npm run -s waypost -- wait --idle 1';

/** The commands of a page, or of a part of one. */
export function shellBlocks(text: string): string[] {
  return [...text.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block = '']) => block);
}

/** A reader's terminal: the commands as they are printed, on the stack, ports and folders of this run. */
export async function runInTerminal(
  waypost: RunningWaypost,
  blocks: readonly string[],
): Promise<{ readonly code: number | null; readonly output: string }> {
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
  const env = productEnvironment({ DATA_DIR: waypost.dataDir });
  const child = spawn('bash', ['-c', script], { cwd: projectRoot(), env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}
