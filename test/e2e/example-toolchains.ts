import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasGo, hasPython, isInstalled, PROGRAM_TIMEOUT_MS } from '../support/programs.js';
import { productEnvironment } from '../support/waypost-config.js';

const run = promisify(execFile);

/** A program of `examples/` with what it needs installed. */
export interface Example {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

/** One language of the examples. Preparing takes its packages from its registry, as its users do. */
export interface Toolchain {
  readonly name: string;
  readonly isPresent: boolean;
  /** @param workDir a folder of the tests for what is installed and built */
  prepare(workDir: string): Promise<{
    /** Publishes one ping. */
    readonly producer?: Example;
    /** Verifies webhooks. */
    readonly receiver?: Example;
    /** Prints the events of fleet.events. */
    readonly consumer?: Example;
  }>;
}

const examples = join(process.cwd(), 'examples');

function install(file: string, args: readonly string[], cwd: string): Promise<unknown> {
  return run(file, args, { cwd, timeout: PROGRAM_TIMEOUT_MS, env: productEnvironment() });
}

/** Always present, with its packages: the product needs them too. */
const node: Toolchain = {
  name: 'Node',
  isPresent: true,
  prepare: () => {
    const example = (folder: string, program: string): Example => ({
      file: process.execPath,
      args: [program],
      cwd: join(examples, folder),
    });
    return Promise.resolve({
      producer: example('producer-node', 'publish-ping.mjs'),
      receiver: example('receiver-node', 'receiver.mjs'),
      consumer: example('consumer-node', 'read-events.mjs'),
    });
  },
};

const java: Toolchain = {
  name: 'Java',
  isPresent: isInstalled('mvn', '--version'),
  prepare: async () => {
    const cwd = join(examples, 'producer-java');
    await install('mvn', ['-q', 'compile'], cwd);
    return { producer: { file: 'mvn', args: ['-q', 'exec:java'], cwd } };
  },
};

const python: Toolchain = {
  name: 'Python',
  isPresent: hasPython,
  prepare: async (workDir) => {
    const venv = join(workDir, 'venv');
    const [producer, receiver] = ['producer-python', 'receiver-python'].map((name) => join(examples, name)) as [
      string,
      string,
    ];
    await install('python3', ['-m', 'venv', venv], workDir);
    const bin = join(venv, 'bin');
    // Built in a copy: pip leaves files beside the sources.
    const verifier = join(workDir, 'verify-python');
    cpSync(join(process.cwd(), 'packages', 'verify-python'), verifier, { recursive: true });
    const packages = ['-r', join(producer, 'requirements.txt'), verifier];
    await install(join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages], workDir);
    const file = join(bin, 'python');
    return {
      producer: { file, args: ['publish_ping.py'], cwd: producer },
      receiver: { file, args: ['receiver.py'], cwd: receiver },
    };
  },
};

const go: Toolchain = {
  name: 'Go',
  isPresent: hasGo,
  prepare: async (workDir) => {
    const file = join(workDir, 'receiver-go');
    await install('go', ['build', '-o', file, '.'], join(examples, 'receiver-go'));
    return { receiver: { file, args: [], cwd: workDir } };
  },
};

export const toolchains: readonly Toolchain[] = [node, java, python, go];

/** What a started receiver has printed so far, line by line. */
export interface RunningExample {
  readonly lines: readonly string[];
  stop(): void;
}

export function startExample({ file, args, cwd }: Example, env: Readonly<Record<string, string>>): RunningExample {
  const child: ChildProcess = spawn(file, args, {
    cwd,
    env: productEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  return {
    get lines() {
      return text.split('\n');
    },
    stop: () => child.kill(),
  };
}

/** Runs a producer to its end. @returns what it printed @throws when it fails */
export async function runProducer(
  { file, args, cwd }: Example,
  [fleet, device]: readonly [string, string],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const given = file === 'mvn' ? [...args, `-Dexec.args=${fleet} ${device}`] : [...args, fleet, device];
  const { stdout } = await run(file, given, { cwd, timeout: 60_000, env: productEnvironment(env) });
  return stdout;
}
