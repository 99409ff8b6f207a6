import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const SHOWN = 40;
const SMALLEST_AREA = 0.005;
const WAITING = new Set(['(idle)', '(program)', '(root)']);

/** The functions in which webhook-delivery spends most time, of the newest profile in the folder. */
export async function profileReport(folder: string): Promise<string> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.cpuprofile')).sort();
  const newest = files.at(-1);
  if (newest === undefined) return `No profile in ${folder}.`;
  const file = join(folder, newest);
  const times = selfTimes(JSON.parse(await readFile(file, 'utf8')) as CpuProfile);
  const busy = [...times].filter(([name]) => !WAITING.has(name.split(' ')[0] ?? ''));
  const total = busy.reduce((sum, [, time]) => sum + time, 0);
  const lines = busy
    .sort(([, one], [, other]) => other - one)
    .slice(0, SHOWN)
    .map(([name, time]) => `  ${((time / total) * 100).toFixed(1).padStart(5)} %  ${name}`);
  const share = (time: number): string => `${((time / total) * 100).toFixed(1).padStart(5)} %`;
  const areas = new Map<string, number>();
  for (const [name, time] of busy) areas.set(areaOf(name), (areas.get(areaOf(name)) ?? 0) + time);
  const areaLines = [...areas]
    .filter(([, time]) => time / total >= SMALLEST_AREA)
    .sort(([, one], [, other]) => other - one)
    .map(([area, time]) => `  ${share(time)}  ${area}`);
  return [
    `${file}: ${(total / 1e6).toFixed(1)} s of CPU time`,
    'By area:',
    ...areaLines,
    'By function:',
    ...lines,
  ].join('\n');
}

/** apps/webhook-delivery/src/sender, libs/streams, a package, a module of Node, or what V8 calls its own. */
function areaOf(name: string): string {
  const [label = '', place = ''] = name.split(' ');
  if (place === '') return label.startsWith('(') ? label : 'native';
  const parts = place.split('/');
  if (parts[0] === 'apps') return parts.slice(0, 4).join('/').replace(/:\d+$/, '');
  if (parts[0] === 'libs') return parts.slice(0, 2).join('/');
  return (parts[0] ?? '').startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? '').replace(/:\d+$/, '');
}

function selfTimes({ nodes, samples, timeDeltas }: CpuProfile): Map<string, number> {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
      const place = url === '' ? '' : `${url.replace(/^.*?(dist|node_modules)\//, '')}:${String(lineNumber + 1)}`;
      return [id, `${functionName === '' ? '(anonymous)' : functionName} ${place}`];
    }),
  );
  const times = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? '';
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[index] ?? 0));
  }
  return times;
}
