import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { hasGo, hasPython, PROGRAM_TIMEOUT_MS, runProgram } from '../../../../test/support/programs.js';
import { until } from '../../../../test/support/until.js';
import { choosePort } from '../../../../tools/dev-stack/free-port.js';
import { projectRoot } from '../../../../tools/dev-stack/project-root.js';
import { VERIFICATION_CODE } from './verification-code.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const BODY = '{"eventId":"e-1","eventType":"test","eventData":{"place":"Zürich"}}';
/** The long tests take packages from the registries of the languages. */
const isLong = process.env['WAYPOST_LONG_TESTS'] !== undefined;
const inPython = isLong && hasPython ? it : it.skip;
const inGo = isLong && hasGo ? it : it.skip;

let workDir: string;
let receiver: ChildProcess | undefined;
beforeEach(() => {
  workDir = mkdtempSync(join(tmpdir(), 'waypost-receivers-'));
});
afterEach(() => {
  receiver?.kill();
  receiver = undefined;
  rmSync(workDir, { recursive: true, force: true });
});

/** @returns the status codes for a signed call, and for one with the signature of another body */
async function answersOf(file: string, args: readonly string[]): Promise<readonly number[]> {
  const port = await choosePort();
  const env = { ...process.env, NODE_OPTIONS: '', WEBHOOK_SECRET: SECRET, PORT: String(port) };
  receiver = spawn(file, args, { cwd: workDir, env, stdio: 'ignore' });
  const call = (body: string): Promise<number> => statusOf(`http://127.0.0.1:${String(port)}/`, body);
  const signed = await until(() => call(BODY), { timeoutMs: PROGRAM_TIMEOUT_MS });
  return [signed, await call(BODY.replace('Zürich', 'Bern'))];
}

async function statusOf(url: string, body: string): Promise<number> {
  const at = new Date();
  const headers = {
    'webhook-id': 'e-1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(SECRET).sign('e-1', at, BODY),
  };
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

/** What the first line of a text says to install, without its comment sign. */
function installOf(code: string): string {
  return /^(?:#|\/\/) (.+)$/m.exec(code)?.[1] ?? '';
}

describe('the receivers that the console shows with a secret (R-19)', () => {
  it(
    'in TypeScript compiles strictly with the packages that it names, and refuses what is not signed',
    async () => {
      const code = VERIFICATION_CODE.TypeScript;
      const [npm, install, ...packages] = installOf(code).split(' ');
      expect([npm, install]).toEqual(['npm', 'install']);
      for (const name of packages) provide(name);
      writeFileSync(join(workDir, 'receiver.ts'), code);
      writeFileSync(join(workDir, 'package.json'), '{ "type": "module" }');
      const settings = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
      const compiler = join(projectRoot(), 'node_modules/typescript/bin/tsc');
      await runProgram(process.execPath, [compiler, ...settings, 'receiver.ts'], { cwd: workDir });
      expect(await answersOf(process.execPath, ['receiver.js'])).toEqual([204, 401]);
    },
    PROGRAM_TIMEOUT_MS,
  );

  inPython(
    'in Python runs with the package that it names, and refuses what is not signed',
    async () => {
      await runProgram('python3', ['-m', 'venv', 'venv'], { cwd: workDir });
      const bin = join(workDir, 'venv', 'bin');
      const install = installOf(VERIFICATION_CODE.Python);
      await runProgram('sh', ['-ec', install], { cwd: workDir, bin, env: { PIP_DISABLE_PIP_VERSION_CHECK: '1' } });
      writeFileSync(join(workDir, 'receiver.py'), VERIFICATION_CODE.Python);
      expect(await answersOf(join(bin, 'python'), ['receiver.py'])).toEqual([204, 401]);
    },
    PROGRAM_TIMEOUT_MS,
  );

  inGo(
    'in Go is formatted, builds with the module that it names, and refuses what is not signed',
    async () => {
      await runProgram('sh', ['-ec', installOf(VERIFICATION_CODE.Go)], { cwd: workDir });
      writeFileSync(join(workDir, 'main.go'), VERIFICATION_CODE.Go);
      expect(await runProgram('gofmt', ['-l', '.'], { cwd: workDir })).toMatchObject({ stdout: '' });
      await runProgram('go', ['build', '-o', 'receiver', '.'], { cwd: workDir });
      expect(await answersOf(join(workDir, 'receiver'), [])).toEqual([204, 401]);
    },
    PROGRAM_TIMEOUT_MS,
  );
});

/** As if it were installed, with what it brings. */
function provide(name: string): void {
  const modules = join(workDir, 'node_modules');
  mkdirSync(join(modules, name, '..'), { recursive: true });
  symlinkSync(join(projectRoot(), 'node_modules', name), join(modules, name));
}
