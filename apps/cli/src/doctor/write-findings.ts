import { type Output, writeLine } from '../terminal/output.js';
import type { Finding } from './finding.js';

type Outcome = { readonly findings: readonly Finding[] } | { readonly error: unknown };

/**
 * Writes each part as soon as it and those before it are known.
 * @returns the number of problems
 * @throws the first error of a part, after the findings of all others
 */
export async function writeFindings(out: Output, parts: readonly Promise<readonly Finding[]>[]): Promise<number> {
  const outcomes = parts.map((part) =>
    part.then(
      (findings): Outcome => ({ findings }),
      (error: unknown): Outcome => ({ error }),
    ),
  );
  const errors: unknown[] = [];
  let problems = 0;
  for (const coming of outcomes) {
    const outcome = await coming;
    if ('error' in outcome) errors.push(outcome.error);
    else {
      for (const finding of outcome.findings) await writeLine(out, lineOf(finding));
      problems += outcome.findings.filter(({ level }) => level === 'problem').length;
    }
  }
  if (errors.length > 0) throw errors[0];
  return problems;
}

function lineOf({ level, about, what, fix }: Finding): string {
  return `${level.padEnd(8)} ${about.padEnd(9)} ${what}${fix === null ? '' : `\n         ${fix}`}`;
}
