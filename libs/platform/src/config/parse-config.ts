import type { z } from 'zod';
import { BootError } from '../boot-error.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a typed configuration out of the environment. All problems are reported at once, one line each, naming the
 * variable and the mend. The values themselves are never printed: any of them may be a secret.
 * An empty variable counts as unset, as compose files and shells produce them.
 *
 * @throws BootError `config_invalid`
 */
export function parseConfig<T>(schema: z.ZodType<T>, env: Environment): T {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const result = schema.safeParse(given);
  if (result.success) return result.data;

  const problems = [...new Set(result.error.issues.map((issue) => `  ${issue.path.join('.')} ${issue.message}`))];
  const count = problems.length === 1 ? 'one problem' : `${String(problems.length)} problems`;
  throw new BootError('config_invalid', `The configuration has ${count}:\n${problems.join('\n')}`);
}
