import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { StackError } from '../stack-error.js';
import type { UserIds } from './reachable.js';

const run = promisify(execFile);
const NAME = 'postgres';

/**
 * Postgres refuses to run as root. Root runs it as the system user "postgres", which is made when it is missing;
 * everybody else runs it as themselves (undefined).
 */
export async function databaseUser(): Promise<UserIds | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  return (await idsOf(NAME)) ?? (await createUser());
}

async function createUser(): Promise<UserIds> {
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false', NAME]);
  } catch (error) {
    const message = 'PostgreSQL does not run as root and the user "postgres" cannot be made: run as another user.';
    throw new StackError('part_failed', message, { cause: error });
  }
  const ids = await idsOf(NAME);
  if (ids === undefined)
    throw new StackError('part_failed', 'The user "postgres" is missing: run as another user than root.');
  return ids;
}

async function idsOf(name: string): Promise<UserIds | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}
