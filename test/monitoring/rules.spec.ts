import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { createMetrics } from '@waypost/platform';
import { type Metric, readMetrics } from '../../tools/codegen/reference/metrics-page.js';
import { alertsOf, dashboardExpressions, type DeployedExpression } from './deployed-expressions.js';
import { parseExpression, RANGE_FUNCTIONS, type Selector } from './promql.js';

const ROOT = new URL('../..', import.meta.url).pathname;
const textOf = (path: string): string => readFileSync(`${ROOT}/${path}`, 'utf8');

type Known = Pick<Metric, 'name' | 'type' | 'labels'>;

const alerts = alertsOf(textOf('deploy/prometheus/rules.yml'));
const panels = dashboardExpressions(`${ROOT}/deploy/grafana`);
const metrics = await closedList();

/** Those that the applications register, those of Node.js, and what Prometheus adds. */
async function closedList(): Promise<readonly Known[]> {
  const ofNode = (await createMetrics('any').getMetricsAsJSON()) as unknown as { name: string; type: Metric['type'] }[];
  return [
    ...(await readMetrics(ROOT)),
    ...ofNode.map(({ name, type }) => ({ name, type, labels: [] })),
    { name: 'up', type: 'gauge', labels: [] },
  ];
}

/** Every scrape has them; `app` is a default label of ours. */
const ALWAYS = ['app', 'instance', 'job'];

function problemsOf({ expression, shown }: Pick<DeployedExpression, 'expression' | 'shown'>): string[] {
  const { selectors, groupedBy } = parseExpression(expression);
  const labels = new Set(selectors.flatMap((selector) => labelsOf(selector.name)));
  const earlier = new Set(selectors.filter(({ isEarlier }) => isEarlier).map(({ name }) => name));
  const strange = [...groupedBy, ...shown].filter((label) => !labels.has(label));
  return [
    ...(selectors.length === 0 ? ['it reads no metric'] : []),
    ...selectors.flatMap((selector) => problemsOfSelector(selector, earlier)),
    ...strange.map((label) => `no metric of it has the label ${label}`),
  ];
}

/** @param earlier names that are compared with what they were, as new series of a counter are found */
function problemsOfSelector({ name, labels, isRange, inside }: Selector, earlier: ReadonlySet<string>): string[] {
  const found = find(name);
  if (!found) return [`${name} is not in the list`];
  const isCounter = found.metric.type !== 'gauge';
  const wantsRange = RANGE_FUNCTIONS.includes(inside ?? '');
  const problems = labels.filter((label) => !labelsOf(name).includes(label)).map((label) => `${name} has no ${label}`);
  if (found.metric.type === 'histogram' && found.series === '') problems.push(`${name} is a histogram: no such series`);
  if (isRange !== wantsRange) problems.push(`${name} ${isRange ? 'has a' : 'needs a'} range in ${String(inside)}`);
  const isRate = ['rate', 'increase'].includes(inside ?? '');
  if (isRate !== isCounter && !earlier.has(name)) problems.push(`${name} is a ${found.metric.type}`);
  return problems;
}

/** A histogram has three kinds of series, none with its own name. */
function find(name: string): { readonly metric: Known; readonly series: string } | undefined {
  const metric = metrics.find((one) => one.name === name);
  if (metric) return { metric, series: '' };
  const [, base, series = ''] = /^(.*)_(bucket|sum|count)$/.exec(name) ?? [];
  const histogram = metrics.find((one) => one.name === base && one.type === 'histogram');
  return histogram && { metric: histogram, series };
}

function labelsOf(name: string): string[] {
  const found = find(name);
  return [...ALWAYS, ...(found?.metric.labels ?? []), ...(found?.series === 'bucket' ? ['le'] : [])];
}

describe('the rules and dashboards of deploy/', () => {
  const ofAlerts = alerts.map(({ name, expression }): DeployedExpression => ({ of: name, expression, shown: [] }));

  it.each([...ofAlerts, ...panels])(
    '$of uses metrics of the closed list only, each by its type and with labels that it has',
    (one) => {
      expect(problemsOf(one)).toEqual([]);
    },
  );

  it.each([
    ['a metric that does not exist', 'rate(waypost_typo_total[5m])'],
    ['a label that the metric does not have', 'sum by (fleet) (waypost_reservations)'],
    ['a matcher of such a label', 'waypost_ready{fleet="a"} == 0'],
    ['the rate of a gauge', 'rate(waypost_reservations[5m])'],
    ['a counter without its rate', 'waypost_events_total > 5'],
    ['a histogram without its buckets', 'histogram_quantile(0.9, rate(waypost_record_age_seconds[5m]))'],
    ['a rate without a range', 'rate(waypost_events_total)'],
    ['a counter that only another one is compared with', 'waypost_events_total unless waypost_pings_total offset 5m'],
  ])('would be refused for %s', (_, expression) => {
    expect(problemsOf({ expression, shown: [] })).not.toEqual([]);
  });

  it.each(['sum(waypost_ready', 'waypost_ready{app=5}', 'wibble(waypost_ready)', 'waypost_ready ;'])(
    'would be refused for %s, which is not PromQL of ours',
    (expression) => {
      expect(() => parseExpression(expression)).toThrow();
    },
  );
});

describe('every alert', () => {
  const headings = new Set(textOf('docs/operations.md').match(/^### .*$/gm));
  const tests = textOf('deploy/prometheus/rules.test.yml');

  it.each(alerts)(
    '$name has a severity, a runbook in docs/operations.md, and tests that it fires and stays quiet',
    (alert) => {
      expect(['critical', 'warning']).toContain(alert.severity);
      expect(alert.runbookUrl).toBe(`docs/operations.md#${alert.name.toLowerCase()}`);
      expect(headings).toContain(`### ${alert.name}`);
      expect(tests).toContain(`- name: ${alert.name} fires\n`);
      expect(tests).toContain(`- name: ${alert.name} is quiet\n`);
    },
  );

  it('is one of many, and past-due work and missing series are among them', () => {
    const names = alerts.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(['WaypostRetriesPastDue', 'WaypostAppAbsent', 'WaypostSignalAbsent']));
    expect(alerts.map(({ expression }) => expression).join(' ')).not.toMatch(/created_?at|event_?time/i);
  });
});
