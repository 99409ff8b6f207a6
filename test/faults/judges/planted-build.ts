import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectFile } from '../../../tools/dev-stack/project-root.js';
import type { OutageTimes } from '../delivery/judge/observations.js';
import type { PlantedBug } from './planted-bug.js';
import { PLANTED_BUGS } from './planted-bugs.js';

/** What R-29 makes of minutes in every build here, with bugs and without: a run takes seconds. */
export const BRIEF_OUTAGE: OutageTimes = { suspendAfterMs: 3_000, probeEveryMs: 1_500 };
const OUTAGE_POLICY = {
  name: 'brief outages',
  suite: 'delivery',
  file: 'libs/domain/src/delivery/outage-policy.ts',
} as const;
const BRIEF: readonly PlantedBug[] = [
  {
    ...OUTAGE_POLICY,
    is: 'SUSPEND_AFTER_MS = 5 * MINUTE_MS',
    becomes: `SUSPEND_AFTER_MS = ${String(BRIEF_OUTAGE.suspendAfterMs)}`,
  },
  { ...OUTAGE_POLICY, is: 'PROBE_EVERY_MS = 15_000', becomes: `PROBE_EVERY_MS = ${String(BRIEF_OUTAGE.probeEveryMs)}` },
];

/** A copy of the build that may be broken; the checkout and its build stay as they are. */
export interface BuildCopy {
  readonly dist: string;
  /** Breaks one file until the returned function is called. @throws Error when the text does not stand there once */
  plant(bug: PlantedBug): Promise<() => Promise<void>>;
}

/** @throws Error when a planted bug has no place in the build */
export async function copyBuild(folder: string): Promise<BuildCopy> {
  const dist = join(folder, 'dist');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const part of ['apps', 'libs']) await cp(projectFile(`dist/${part}`), join(dist, part), { recursive: true });
  await symlink(projectFile('node_modules'), join(folder, 'node_modules'));
  await cp(projectFile('package.json'), join(folder, 'package.json'));
  const fileOf = (bug: PlantedBug): string => fileInBuild(dist, bug);
  for (const brief of BRIEF) await writeFile(fileOf(brief), withBug(await readFile(fileOf(brief), 'utf8'), brief));
  for (const bug of PLANTED_BUGS) withBug(await readFile(fileOf(bug), 'utf8'), bug);
  return {
    dist,
    async plant(bug) {
      const text = await readFile(fileOf(bug), 'utf8');
      await writeFile(fileOf(bug), withBug(text, bug));
      return () => writeFile(fileOf(bug), text);
    },
  };
}

export function fileInBuild(dist: string, { file }: PlantedBug): string {
  return join(dist, file.replace(/\.ts$/, '.js'));
}

/** @throws Error when the text does not stand there exactly once: it would be no bug, or another one */
export function withBug(text: string, { name, file, is, becomes }: PlantedBug): string {
  const found = text.split(is).length - 1;
  if (found !== 1) throw new Error(`"${name}": ${file} has ${String(found)} places with "${is}".`);
  return text.replace(is, () => becomes);
}
