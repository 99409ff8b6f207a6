import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { formatted } from '../../../tools/codegen/formatted.js';
import { projectFile } from '../../../tools/dev-stack/project-root.js';
import { machineText, readMachine } from '../../shared/report/machine.js';
import { counted } from '../../shared/report/number-text.js';
import { PARTITIONS } from '../../shared/stack/bench-stack.js';
import type { BenchFlags } from '../bench-flags.js';
import type { BenchResults } from '../measure-all.js';
import { EVENTS_PER_SECOND } from '../scenarios/isolation.js';
import { ALONE_PART, BESIDE_PART } from '../scenarios/neighbors.js';
import { PART } from '../scenarios/punctuality.js';
import { ENDPOINTS, FLOOD_SUBSCRIPTIONS } from '../stack/subscribers.js';

/** What docs/isolation.md is drawn from: the newest run of each row. */
export interface SavedResults extends Pick<BenchResults, 'isolation' | 'punctuality' | 'stages'> {
  readonly machine: string;
  /** Of the newest run. */
  readonly inputs: readonly string[];
}

/** The first is what docs/isolation.md is drawn from; the second gets what is not for the docs. */
export const RESULT_FILES = { docs: 'docs/results/isolation.json', local: '.waypost/results/isolation.json' };
const NOTHING: SavedResults = { machine: '', inputs: [], isolation: [], punctuality: [], stages: [] };

export async function readSaved(file: string): Promise<SavedResults> {
  const text = await readFile(projectFile(file), 'utf8').catch(() => null);
  return text === null ? NOTHING : { ...NOTHING, ...(JSON.parse(text) as SavedResults) };
}

/** The sizes of a run, one sentence each. */
export function inputsOf(flags: BenchFlags): string[] {
  const { seconds, neighbors, heldBacklog, waiting, halfRate, quick } = flags;
  const load = halfRate === undefined ? String(EVENTS_PER_SECOND) : String(halfRate);
  return [
    `${load} deliveries/s, four fifths to ${String(ENDPOINTS)} endpoints of a fleet each, the rest to ${neighbors.join(', ')} neighbors`,
    `windows of ${(seconds * BESIDE_PART).toFixed(1)} s beside them and of ${(seconds * ALONE_PART).toFixed(1)} s alone, ${(seconds * PART).toFixed(0)} s for retries${quick ? ' (quick)' : ''}`,
    `${counted(heldBacklog)} held deliveries of ${String(FLOOD_SUBSCRIPTIONS)} subscriptions; ${waiting.map(counted).join(' and ')} waiting deliveries; ${String(PARTITIONS)} partitions`,
  ];
}

/** Replaces the rows that were measured again. */
export function mergeResults(saved: SavedResults, results: Partial<SavedResults>): SavedResults {
  const { isolation = [], punctuality = [], stages = [], inputs = saved.inputs } = results;
  return {
    machine: machineText(readMachine()),
    inputs,
    isolation: merged(saved.isolation, isolation, ({ kind, neighbors }) => [kind, neighbors]),
    punctuality: merged(saved.punctuality, punctuality, ({ kind, waiting, others }) => [kind, waiting, others]),
    stages: merged(saved.stages, stages, ({ perSecond }) => [perSecond]),
  };
}

function merged<Row>(saved: readonly Row[], measured: readonly Row[], keyOf: (row: Row) => unknown[]): Row[] {
  const rows = new Map([...saved, ...measured].map((row) => [JSON.stringify(keyOf(row)), row]));
  return [...rows.values()];
}

const DECIMALS = 4;

/** Adds to what the file has. @returns all of it */
export async function save(path: string, results: Partial<SavedResults>): Promise<SavedResults> {
  const all = mergeResults(await readSaved(path), results);
  const file = projectFile(path);
  const round = (_: string, value: unknown): unknown =>
    typeof value === 'number' ? Number(value.toFixed(DECIMALS)) : value;
  const text = JSON.stringify(all, round);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, await formatted(file, text));
  return all;
}
