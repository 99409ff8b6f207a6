import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectFile } from '../../../tools/dev-stack/project-root.js';
import { type KafkaStageOptions, PARTITIONS } from '../shared/stage.js';
import { BROKERS } from './stage.js';

const run = promisify(execFile);

/**
 * Compiles a commit into `.waypost/builds`, with the packages that are installed now, unless that was done before.
 *
 * @returns its `dist`
 */
export async function buildOf(ref: string): Promise<string> {
  const cwd = projectFile('.');
  const { stdout } = await run('git', ['rev-parse', '--verify', `${ref}^{commit}`], { cwd });
  const folder = projectFile(`.waypost/builds/${stdout.trim()}`);
  if (!existsSync(folder)) {
    const unfinished = `${folder}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { recursive: true });
    const archive = join(unfinished, 'sources.tar');
    await run('git', ['archive', '--output', archive, stdout.trim()], { cwd });
    await run('tar', ['-xf', archive, '-C', unfinished]);
    await run(process.execPath, [projectFile('node_modules/@nestjs/cli/bin/nest.js'), 'build', 'public-api'], {
      cwd: unfinished,
      maxBuffer: 16 * 1024 * 1024,
    });
    await rename(unfinished, folder);
  }
  return join(folder, 'dist');
}

/** The command of a build that makes the topics, as an operator of that version has run it. */
export function setUpOf(dist: string): NonNullable<KafkaStageOptions['earlierSetUp']> {
  return async ({ kafka, registryUrl }, { dataDir, env }) => {
    const setUp = [join(dist, 'apps/cli/src/main.js'), 'set-up', '--data-dir', dataDir.path];
    const addresses = { KAFKA_BROKERS: kafka.brokers.join(','), SCHEMA_REGISTRY_URL: registryUrl };
    const size = { WAYPOST_PARTITIONS: String(PARTITIONS), WAYPOST_REPLICATION_FACTOR: String(BROKERS) };
    await run(process.execPath, setUp, { env: { ...env, ...addresses, ...size } });
  };
}
