import type { Mutant } from './mutators.js';

export interface MutantResult extends Mutant {
  readonly file: string;
  readonly original: string;
  /** `uncovered`: no test runs the function. */
  readonly status: 'killed' | 'timeout' | 'survived' | 'uncovered';
  /** The test that failed. */
  readonly by: string | null;
}

export interface Score {
  readonly mutants: number;
  readonly killed: number;
  readonly percent: number;
}

export function isKilled({ status }: Pick<MutantResult, 'status'>): boolean {
  return status === 'killed' || status === 'timeout';
}

export function scoreOf(results: readonly MutantResult[]): Score {
  const killed = results.filter(isKilled).length;
  return { mutants: results.length, killed, percent: results.length === 0 ? 100 : (100 * killed) / results.length };
}

/** Identifies a mutant while its file does not change. */
export function keyOf({ file, start, end, replacement }: Pick<MutantResult, 'file' | keyof Mutant>): string {
  return `${file}:${String(start)}-${String(end)}:${replacement}`;
}

function scoreLine(name: string, results: readonly MutantResult[]): string {
  const { mutants, killed, percent } = scoreOf(results);
  return `| ${name} | ${String(mutants)} | ${String(killed)} | ${percent.toFixed(1)} % |`;
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('`', "'");
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

export function markdownOf(title: string, results: readonly MutantResult[]): string {
  const files = [...new Set(results.map(({ file }) => file))].sort();
  const scores = files.map((file) =>
    scoreLine(
      `\`${file}\``,
      results.filter((result) => result.file === file),
    ),
  );
  const survivors = results
    .filter((result) => !isKilled(result))
    .map(({ file, line, mutator, original, replacement, status }) => {
      const change = `\`${shortened(original)}\` -> \`${shortened(replacement)}\``;
      return `- \`${file}:${String(line)}\` ${mutator}, ${status}: ${change}`;
    });
  return [
    `# Mutation run: ${title}`,
    '',
    '| File | Mutants | Killed | Score |',
    '| --- | ---: | ---: | ---: |',
    ...scores,
    scoreLine('All', results),
    '',
    '## Survivors',
    '',
    ...survivors,
    '',
  ].join('\n');
}
