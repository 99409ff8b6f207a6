/*
 * Builds each planted bug, one at a time, and runs the fault suite that has to find it: `npm run test:judges`.
 * `--only TEXT,TEXT` takes the bugs of a suite, or with a text in their name, `--part 2/4` a quarter of them. See README.md.
 */
import { FlagError, type Place, runFaultSuite, type SuiteContext } from '../shared/fault-suite.js';
import { sharedCluster } from '../shared/stage.js';
import type { PlantedBug } from './planted-bug.js';
import { PLANTED_BUGS } from './planted-bugs.js';
import { type BuildCopy, copyBuild } from './planted-build.js';
import { SUITES } from './suites.js';

/** What the suite has said of one build. */
interface Tried {
  readonly suite: PlantedBug['suite'];
  /** null: the build as it is. */
  readonly bug: string | null;
  readonly findings: readonly string[];
  readonly seconds: number;
}

interface Verdict {
  readonly tried: readonly Tried[];
  readonly problems: readonly string[];
}

const LINKED_INSTANCES = 4;
const LONGEST_SHOWN = 150;

await runFaultSuite({ name: 'judges', verdictKey: 'judges', flags: { only: '', part: '1/1' }, run });

async function run(suite: SuiteContext): Promise<Verdict> {
  const only = suite.text('only').split(',');
  const [part, parts] = suite.text('part').split('/').map(Number);
  if (!part || !parts || part > parts) throw new FlagError('--part must be like 2/4: the second of four parts.');
  const bugs = PLANTED_BUGS.filter((bug) => only.some((text) => bug.suite === text || bug.name.includes(text))).filter(
    (_, index) => index % parts === part - 1,
  );
  if (bugs.length === 0) throw new FlagError(`No planted bug has one of "${only.join('", "')}" in its name.`);
  const tried = await suite.inPlace('judges', async (place) => {
    const { dataDir, guardian, env } = place;
    const build = await copyBuild(dataDir.file('build'));
    const options = { dataDir, guardian, env, brokers: 1, instances: LINKED_INSTANCES } as const;
    const cluster = await suite.during('Starting a broker', () => sharedCluster(options));
    try {
      return await tryAll(suite, build, bugs, cluster.open);
    } finally {
      await cluster.stop();
    }
  });
  const width = Math.max(...tried.map(({ bug }) => bug?.length ?? 0));
  for (const { bug, findings } of tried) {
    if (bug !== null) suite.note(`  ${bug.padEnd(width)}  ${(findings[0] ?? 'NOT FOUND').slice(0, LONGEST_SHOWN)}`);
  }
  return { tried, problems: tried.flatMap(problemOf) };
}

/** A judge that complains of everything finds every bug: each suite first has to call the build as it is intact. */
function problemOf({ suite, bug, findings }: Tried): string[] {
  if (bug !== null) return findings.length > 0 ? [] : [`not found by the ${suite} suite: ${bug}`];
  return findings.map((finding) => `the ${suite} suite complains of a build without a planted bug: ${finding}`);
}

async function tryAll(
  suite: SuiteContext,
  build: BuildCopy,
  bugs: readonly PlantedBug[],
  cluster: NonNullable<Place['cluster']>,
): Promise<Tried[]> {
  const tried: Tried[] = [];
  const all = [...new Set(bugs.map((bug) => bug.suite))].flatMap((name) => [
    { suite: name, bug: null },
    ...bugs.filter((bug) => bug.suite === name).map((bug) => ({ suite: name, bug })),
  ]);
  for (const [number, { suite: name, bug }] of all.entries()) {
    const startedAt = performance.now();
    const restore = await (bug === null ? null : build.plant(bug));
    const options = { dist: build.dist, needsFiveAttempts: bug?.needsFiveAttempts === true };
    const problems = await suite.inPlace(`run-${String(number)}`, (place) =>
      SUITES[name](suite, { ...place, cluster }, options),
    );
    await restore?.();
    // What a judge has to say is more telling than that something did not come to its end.
    const findings = [...problems].sort((a, b) => Number(a.startsWith('stuck')) - Number(b.startsWith('stuck')));
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    tried.push({ suite: name, bug: bug?.name ?? null, findings, seconds });
    const what = findings[0]?.slice(0, LONGEST_SHOWN) ?? (bug === null ? 'intact' : 'NOT FOUND');
    const of = `${String(number + 1)}/${String(all.length)}`;
    suite.note(`${of} ${name}, ${String(seconds)} s: ${bug?.name ?? 'no bug'}: ${what}`);
  }
  return tried;
}
