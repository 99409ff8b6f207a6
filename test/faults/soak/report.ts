import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sample } from './samples.js';
import type { SoakResult } from './soak-run.js';

const PANEL = { width: 420, height: 180, left: 56, top: 44, gap: 24 };
const HEADER = 56;
const COLORS = ['#2f81f7', '#d1242f', '#1a7f37', '#9a6700', '#8250df'];
const FONT = 'ui-sans-serif, system-ui, "Segoe UI", Helvetica, Arial, sans-serif';
const PANELS = [
  { title: 'Resident memory, MiB', of: 'residentMiB' },
  { title: 'Open handles', of: 'handles' },
  { title: 'Records that are not finished', of: 'lag' },
] as const;

/** `soak.json` with everything, and `soak.svg`, the figures over time. @returns the folder */
export async function writeReport(folder: string, result: SoakResult): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'soak.json'), `${JSON.stringify(result, null, 1)}\n`);
  await writeFile(join(folder, 'soak.svg'), soakSvg(result));
}

function soakSvg({ samples, minutes, seed, faults }: SoakResult): string {
  const width = PANELS.length * (PANEL.width + PANEL.gap) + PANEL.gap;
  const height = HEADER + PANEL.top + PANEL.height + 60;
  const count = Object.values(faults).reduce((sum, one) => sum + one, 0);
  const title = `${String(minutes)} min, ${String(count)} faults, seed ${String(seed)}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(width)} ${String(height)}" role="img" aria-labelledby="title">`,
    `  <title id="title">A soak run: ${title}</title>`,
    `  <style>text { font: 12px ${FONT}; fill: #1f2328 } .h { font-size: 16px; font-weight: 600 }</style>`,
    `  <rect width="${String(width)}" height="${String(height)}" rx="8" fill="#ffffff"/>`,
    `  <text class="h" x="${String(PANEL.gap)}" y="32">Soak run: ${title}</text>`,
    ...PANELS.flatMap(({ title: name, of }, index) => panelLines(name, samples, of, index)),
    '</svg>',
    '',
  ].join('\n');
}

function panelLines(title: string, samples: readonly Sample[], of: (typeof PANELS)[number]['of'], index: number) {
  const left = PANEL.gap + index * (PANEL.width + PANEL.gap);
  const [x, y] = [left + PANEL.left, HEADER + PANEL.top];
  const [plotWidth, plotHeight] = [PANEL.width - PANEL.left, PANEL.height];
  const names = [...new Set(samples.flatMap((sample) => Object.keys(sample[of])))].sort();
  const most = Math.max(1, ...samples.flatMap((sample) => Object.values(sample[of])));
  const lastMs = Math.max(1, ...samples.map(({ atMs }) => atMs));
  const placeOf = (atMs: number, value: number): string =>
    `${(x + (atMs / lastMs) * plotWidth).toFixed(1)},${(y + plotHeight - (value / most) * plotHeight).toFixed(1)}`;
  return [
    `  <text x="${String(left)}" y="${String(y - 16)}" font-weight="600">${title}</text>`,
    `  <text x="${String(left)}" y="${String(y + 4)}">${String(most)}</text>`,
    `  <text x="${String(left)}" y="${String(y + plotHeight)}">0</text>`,
    `  <path d="M${String(x)} ${String(y)}V${String(y + plotHeight)}H${String(x + plotWidth)}" fill="none" stroke="#d1d9e0"/>`,
    ...names.flatMap((name, number) => {
      const color = COLORS[number % COLORS.length] ?? '';
      const points = samples.flatMap(({ atMs, [of]: values }) => {
        const value = values[name];
        return value === undefined ? [] : [placeOf(atMs, value)];
      });
      const column = x + (number % 2) * (plotWidth / 2);
      const row = y + plotHeight + 18 + Math.floor(number / 2) * 16;
      return [
        `  <polyline points="${points.join(' ')}" fill="none" stroke="${color}" stroke-width="1.5"/>`,
        `  <text x="${String(column)}" y="${String(row)}" style="fill:${color}">${name}</text>`,
      ];
    }),
  ];
}
