/** One figure as bars, one of each side. */
export interface Panel {
  readonly title: string;
  /** What is better, and how much of it. */
  readonly note: string;
  readonly bars: readonly { readonly name: string; readonly value: number; readonly text: string }[];
}

const COLUMNS = 3;
const PANEL = { width: 320, spare: 14 };
const MARGIN = 24;
const HEADER = 64;
const BAR = { top: 50, height: 22, gap: 12, left: 104, most: 132 };
const COLORS = ['#2f81f7', '#8b949e'];
const FONT = 'ui-sans-serif, system-ui, "Segoe UI", Helvetica, Arial, sans-serif';

/** A picture of bars, panel beside panel; each panel has a scale of its own. */
export function chartSvg(title: string, subtitle: string, panels: readonly Panel[]): string {
  const rows = Math.ceil(panels.length / COLUMNS);
  const mostBars = Math.max(2, ...panels.map(({ bars }) => bars.length));
  const panelHeight = BAR.top + mostBars * (BAR.height + BAR.gap) + PANEL.spare;
  const width = 2 * MARGIN + COLUMNS * PANEL.width;
  const height = HEADER + MARGIN + rows * panelHeight;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(width)} ${String(height)}" width="${String(width)}" height="${String(height)}" role="img" aria-labelledby="title">`,
    `  <title id="title">${escaped(title)}: ${escaped(panels.map(panelText).join('; '))}</title>`,
    '  <style>',
    `    text { font: 13px ${FONT}; fill: #1f2328 }`,
    '    .h { font-size: 18px; font-weight: 600 }',
    '    .t { font-weight: 600 }',
    '    .n { font-size: 12px; fill: #59636e }',
    '  </style>',
    `  <rect width="${String(width)}" height="${String(height)}" rx="8" fill="#ffffff"/>`,
    textAt(MARGIN, 32, 'h', title),
    textAt(MARGIN, 52, 'n', subtitle),
    ...panels.flatMap((panel, index) => panelLines(panel, originOf(index, panelHeight))),
    '</svg>',
    '',
  ].join('\n');
}

interface Point {
  readonly x: number;
  readonly y: number;
}

function originOf(index: number, panelHeight: number): Point {
  return { x: MARGIN + (index % COLUMNS) * PANEL.width, y: HEADER + Math.floor(index / COLUMNS) * panelHeight };
}

function panelLines({ title, note, bars }: Panel, { x, y }: Point): string[] {
  const most = Math.max(...bars.map(({ value }) => value));
  return [
    textAt(x, y + 22, 't', title),
    textAt(x, y + 39, 'n', note),
    ...bars.flatMap(({ name, value, text }, index) => {
      const top = y + BAR.top + index * (BAR.height + BAR.gap);
      const length = Math.max(2, Math.round((value / most) * BAR.most));
      const fill = COLORS[Math.min(index, COLORS.length - 1)] ?? '';
      return [
        textAt(x, top + 16, '', name),
        `  <rect x="${String(x + BAR.left)}" y="${String(top)}" width="${String(length)}" height="${String(BAR.height)}" rx="3" fill="${fill}"/>`,
        textAt(x + BAR.left + length + 6, top + 16, '', text),
      ];
    }),
  ];
}

function panelText({ title, bars }: Panel): string {
  return `${title} ${bars.map(({ name, text }) => `${name} ${text}`).join(', ')}`;
}

function textAt(x: number, y: number, style: string, text: string): string {
  const named = style === '' ? '' : ` class="${style}"`;
  return `  <text${named} x="${String(x)}" y="${String(y)}">${escaped(text)}</text>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
