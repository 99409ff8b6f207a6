/*
 * Provokes each alert on the real applications, with a Prometheus that has the shipped rules. See README.md.
 */
import { prometheusProgram } from '../../support/prometheus.js';
import { FlagError, runFaultSuite, type SuiteContext } from '../shared/fault-suite.js';
import { type AlertRow, provokeAlerts } from './alert-run.js';
import { NOT_PROVOKED, PROVOCATIONS } from './provocations.js';
import { rowText, saveRows } from './report.js';
import { type AlertStage, openAlertStage } from './stage.js';

await runFaultSuite({
  name: 'alerts',
  verdictKey: 'alerts',
  flags: { only: '', factor: '30', 'write-docs': 'no' },
  run,
});

interface Result {
  readonly rows: readonly AlertRow[];
  readonly problems: readonly string[];
}

async function run(suite: SuiteContext): Promise<Result> {
  const wanted = selected(suite.text('only'));
  const prometheus = prometheusProgram();
  if (prometheus === null) throw new FlagError('Prometheus is needed: npm run test:alerts unpacks one.');
  const factor = suite.number('factor', 1);
  return suite.inPlace('alerts', async (place) => {
    const stage = await suite.during('Starting a broker, a registry, a database, the applications and Prometheus', () =>
      openAlertStage(place, { program: suite.program, prometheus, factor }),
    );
    try {
      return await provokeAll(suite, stage, wanted);
    } finally {
      await stage.stop();
    }
  });
}

function selected(only: string): typeof PROVOCATIONS {
  if (only === '') return PROVOCATIONS;
  const names = only.split(',');
  const unknown = names.filter((name) => !PROVOCATIONS.some(({ alerts }) => alerts.includes(name)));
  if (unknown.length > 0) throw new FlagError(`--only: ${unknown.join(', ')} is no alert that is provoked.`);
  return PROVOCATIONS.filter(({ alerts }) => alerts.some((alert) => names.includes(alert)));
}

async function provokeAll(suite: SuiteContext, stage: AlertStage, wanted: typeof PROVOCATIONS): Promise<Result> {
  const { note } = suite;
  const rows: AlertRow[] = [];
  const problems: string[] = [];
  for (const provocation of wanted) {
    try {
      const measured = await provokeAlerts(stage, provocation);
      rows.push(...measured);
      for (const row of measured) note(rowText(row));
      if (suite.text('write-docs') === 'yes') await saveRows(measured, suite.number('factor', 1));
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      problems.push(problem);
      note(problem);
    }
  }
  for (const [alert, reason] of Object.entries(NOT_PROVOKED)) note(`${alert}: not provoked: ${reason}`);
  return { rows, problems };
}
