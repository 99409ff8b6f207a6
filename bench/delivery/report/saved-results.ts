import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import { projectFile } from '../../../tools/dev-stack/index.js';
import { machineText, readMachine } from '../../shared/report/machine.js';
import type { BenchResults } from '../measure-all.js';

/** What docs/isolation.md is drawn from: the newest run of each row. */
export interface SavedResults extends Pick<BenchResults, 'isolation' | 'punctuality' | 'stages'> {
  readonly machine: string;
}

const FILE = 'docs/results/isolation.json';
const NOTHING: SavedResults = { machine: '', isolation: [], punctuality: [], stages: [] };

export async function readSaved(): Promise<SavedResults> {
  const text = await readFile(projectFile(FILE), 'utf8').catch(() => null);
  return text === null ? NOTHING : (JSON.parse(text) as SavedResults);
}

/** Replaces the rows that were measured again. */
export function mergeResults(saved: SavedResults, results: BenchResults): SavedResults {
  return {
    machine: machineText(readMachine()),
    isolation: merged(saved.isolation, results.isolation, ({ kind, neighbours }) => [kind, neighbours]),
    punctuality: merged(saved.punctuality, results.punctuality, ({ kind, waiting, others }) => [kind, waiting, others]),
    stages: merged(saved.stages, results.stages, ({ perSecond }) => [perSecond]),
  };
}

function merged<Row>(saved: readonly Row[], measured: readonly Row[], keyOf: (row: Row) => unknown[]): Row[] {
  const rows = new Map([...saved, ...measured].map((row) => [JSON.stringify(keyOf(row)), row]));
  return [...rows.values()];
}

const DECIMALS = 4;

export async function writeSaved(results: SavedResults): Promise<void> {
  const file = projectFile(FILE);
  const round = (_: string, value: unknown): unknown =>
    typeof value === 'number' ? Number(value.toFixed(DECIMALS)) : value;
  const text = JSON.stringify(results, round);
  await writeFile(file, await format(text, { ...(await resolveConfig(file)), parser: 'json' }));
}
