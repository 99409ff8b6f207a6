import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePort } from '../../tools/dev-stack/free-port.js';
import { projectFile } from '../../tools/dev-stack/project-root.js';
import { until } from './until.js';

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [at: number, value: string];
}

export interface Prometheus {
  /** What an expression is now. */
  query(expression: string): Promise<readonly Series[]>;
  get<T>(path: string): Promise<T>;
  stop(): Promise<void>;
}

interface Options {
  readonly program: string;
  /** host:port */
  readonly targets: readonly string[];
  readonly rules: string;
}

/** PROMETHEUS, the one on the PATH, or the one that `npm run test:alerts` has unpacked; null: there is none. */
export function prometheusProgram(): string | null {
  const unpacked = projectFile('.waypost/prometheus/usr/bin/prometheus');
  const named = [process.env['PROMETHEUS'] ?? '', 'prometheus'].filter((program) => program !== '');
  const found = named.find((program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0);
  return found ?? (existsSync(unpacked) ? unpacked : null);
}

/** Scrapes every second, as the job that the rules expect. */
export async function startPrometheus({ program, targets, rules }: Options): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'waypost-prometheus-'));
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [rules],
    scrape_configs: [{ job_name: 'waypost', static_configs: [{ targets }] }],
  };
  // JSON is YAML.
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const address = `127.0.0.1:${String(await choosePort())}`;
  const child: ChildProcess = spawn(
    program,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    { stdio: 'ignore' },
  );
  const get = async <T>(path: string): Promise<T> => {
    const response = await fetch(`http://${address}${path}`);
    const answer = (await response.json()) as { status: string; error?: string; data: T };
    if (answer.status !== 'success') throw new Error(`${path}: ${String(answer.error)}`);
    return answer.data;
  };
  await until(async () => (await fetch(`http://${address}/-/ready`)).ok);
  return {
    get,
    async query(expression) {
      const path = `/api/v1/query?query=${encodeURIComponent(expression)}`;
      return (await get<{ result: readonly Series[] }>(path)).result;
    },
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
