import type { RuleSettings } from '@waypost/domain';
import type { Comparison, Tally } from './comparison.js';
import { changedCount, FIGURES, figures } from './comparison-table.js';

export interface ReportOptions {
  readonly now: RuleSettings;
  readonly then: RuleSettings;
  readonly range: string;
  readonly pings: number;
}

/** A page that needs nothing but itself: the thresholds that differ, two charts, and what would change by device. */
export function comparisonReport(comparison: Comparison, options: ReportOptions): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Back-test</title>
<style>${STYLE}</style>
<h1>Back-test</h1>
<p>${escapeHtml(options.range)}, ${options.pings.toLocaleString('en')} pings.</p>
<h2>Thresholds</h2>
${thresholdTable(options)}
<h2>Events by type</h2>
<p class="legend"><i class="now"></i> with the current rules <i class="then"></i> with the other thresholds</p>
${bars(comparison)}
<h2>Events by hour</h2>
${lines(comparison.hours())}
<h2>Changes by device</h2>
${deviceTable(comparison)}
</html>
`;
}

const STYLE =
  'body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2733}' +
  'table{border-collapse:collapse;display:block;overflow-x:auto}th,td{padding:.2rem .8rem .2rem 0;text-align:left;border-bottom:1px solid #dde3e8}' +
  'td.n,th.n{text-align:right}.now{background:#7a8896}.then{background:#d9622b}' +
  '.legend i{display:inline-block;width:.8rem;height:.8rem;margin-left:1rem}.bars dd{margin:0 4.5rem 2px 0}.bars dt{margin-top:.6rem}' +
  '.bars i{display:inline-block;height:.8rem;margin-right:.4rem}.bars dd{white-space:nowrap}svg{width:100%;height:11rem}' +
  'polyline{fill:none;stroke-width:1.5;vector-effect:non-scaling-stroke}polyline.now{stroke:#7a8896}polyline.then{stroke:#d9622b}' +
  '.axis{display:flex;justify-content:space-between;margin:0}h2{margin-bottom:.4rem}';

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${String(character.charCodeAt(0))};`);
}

function row(cells: readonly string[], textColumns: number, tag: 'td' | 'th' = 'td'): string {
  return `<tr>${cells
    .map((cell, column) => `<${tag}${column < textColumns ? '' : ' class="n"'}>${escapeHtml(cell)}</${tag}>`)
    .join('')}</tr>`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[], textColumns: number): string {
  return `<table>${row(head, textColumns, 'th')}${rows.map((cells) => row(cells, textColumns)).join('')}</table>`;
}

function thresholdTable({ now, then }: ReportOptions): string {
  const before = flat(now);
  const differing = [...flat(then)].filter(([name, value]) => before.get(name) !== value);
  if (differing.length === 0) return '<p>All unchanged.</p>';
  const rows = differing.map(([name, value]) => [name, String(before.get(name)), String(value)]);
  return table(['threshold', 'now', 'then'], rows, 1);
}

function flat(settings: object, outer = ''): Map<string, unknown> {
  const values = new Map<string, unknown>();
  for (const [name, value] of Object.entries(settings) as [string, unknown][]) {
    if (typeof value !== 'object' || value === null) values.set(`${outer}${name}`, value);
    else for (const [inner, found] of flat(value, `${outer}${name}.`)) values.set(inner, found);
  }
  return values;
}

/** Text stands beside the shapes, not in them: what is drawn shrinks with the screen. */
function bars(comparison: Comparison): string {
  const totals = comparison.totals();
  const most = Math.max(1, ...totals.flatMap(({ now, then }) => [now, then]));
  const bar = (value: number, side: 'now' | 'then'): string =>
    `<dd><i class="${side}" style="width:${((value / most) * 100).toFixed(1)}%"></i>${value.toLocaleString('en')}</dd>`;
  const groups = totals.map(
    ({ eventType, now, then }) => `<dt>${escapeHtml(eventType)}</dt>${bar(now, 'now')}${bar(then, 'then')}`,
  );
  return `<dl class="bars">${groups.join('')}</dl>`;
}

const WIDTH = 900;
const HEIGHT = 180;

function lines(hours: readonly (readonly [number, Tally])[]): string {
  const [first] = hours[0] ?? [0];
  const [last] = hours.at(-1) ?? [0];
  const most = Math.max(1, ...hours.flatMap(([, { now, then }]) => [now, then]));
  const line = (side: 'now' | 'then'): string => {
    const points = hours.map(([hour, tally]) => {
      const x = last === first ? WIDTH / 2 : ((hour - first) / (last - first)) * WIDTH;
      return `${x.toFixed(1)},${(HEIGHT - (tally[side] / most) * HEIGHT).toFixed(1)}`;
    });
    return `<polyline class="${side}" points="${points.join(' ')}"/>`;
  };
  const hourText = (hour: number): string => `${new Date(hour).toISOString().slice(0, 13)}:00Z`;
  return [
    `<p class="axis">${most.toLocaleString('en')} per hour at most</p>`,
    `<svg viewBox="0 -2 ${String(WIDTH)} ${String(HEIGHT + 4)}" preserveAspectRatio="none" role="img" aria-label="Events by hour">${line('now')}${line('then')}</svg>`,
    ...(hours.length === 0
      ? []
      : [`<p class="axis"><span>${hourText(first)}</span><span>${hourText(last)}</span></p>`]),
  ].join('\n');
}

function deviceTable(comparison: Comparison): string {
  const rows = comparison
    .rows()
    .filter((one) => changedCount(one) > 0)
    .map((one) => [one.fleetId, one.deviceId, one.eventType, ...figures(one)]);
  if (rows.length === 0) return '<p>Nothing.</p>';
  return table(['fleet', 'device', 'type', ...FIGURES], rows, 3);
}
