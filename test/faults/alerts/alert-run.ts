import { runInTerminal } from '../../support/documented-commands.js';
import type { Prometheus } from '../../support/prometheus.js';
import { until } from '../../support/until.js';
import type { Provocation } from './provocation.js';
import { commandsOf } from './runbook.js';
import { openScene } from './scene.js';
import type { AlertStage } from './stage.js';

/** What became of one alert. */
export interface AlertRow {
  readonly alert: string;
  readonly by: string;
  readonly endedBy: string;
  readonly firingAfterS: number;
  /** From the end of the steps of the runbook. */
  readonly endedAfterS: number;
  /** Others that fired meanwhile. */
  readonly beside: readonly string[];
}

/** The longest silence that a rule waits for is some seconds by the factor. */
const CALM_WITHIN_MS = 180_000;
const FIRES_WITHIN_MS = 60_000;
const ENDS_WITHIN_MS = 120_000;

/** Makes the fault, follows the runbooks, waits for the end. @throws when an alert does not fire, or does not end */
export async function provokeAlerts(stage: AlertStage, provocation: Provocation): Promise<AlertRow[]> {
  const { alerts, by, endedBy, firesWithinMs = FIRES_WITHIN_MS } = provocation;
  const watch = alertWatch(stage.prometheus);
  await until(() => isCalm(stage), { timeoutMs: CALM_WITHIN_MS });
  const scene = openScene(stage, String(alerts[0]).toLowerCase());
  let end: () => unknown = () => undefined;
  try {
    await scene.createFleet(scene.fleet);
    watch.begin();
    end = await provocation.provoke(scene);
    const fired = await watch.untilEach(alerts, true, firesWithinMs);
    for (const alert of alerts) await followRunbook(stage, alert);
    await end();
    end = () => undefined;
    watch.begin();
    const ended = await watch.untilEach(alerts, false, ENDS_WITHIN_MS);
    const others = watch.seen().filter(({ alert }) => !alerts.includes(alert));
    const beside = others.map(({ text }) => text);
    return alerts.map((alert) => ({
      ...{ alert, by, endedBy, beside },
      firingAfterS: fired.get(alert) ?? NaN,
      endedAfterS: ended.get(alert) ?? NaN,
    }));
  } finally {
    await end();
    await scene.close();
  }
}

/** All are scraped, and no alert fires or is about to. */
async function isCalm({ prometheus, apps }: AlertStage): Promise<boolean> {
  const [up, alerts] = await Promise.all([prometheus.query('up == 1'), prometheus.query('ALERTS')]);
  return up.length === apps.length && alerts.length === 0;
}

interface Firing {
  readonly alert: string;
  /** Of which application, where it says so. */
  readonly text: string;
}

function alertWatch(prometheus: Prometheus) {
  const seen = new Map<string, Firing>();
  let begunAt = performance.now();

  async function firing(): Promise<Firing[]> {
    const series = await prometheus.query('group by (alertname, app) (ALERTS{alertstate="firing"})');
    return series.map(({ metric: { alertname = '', app } }) => ({
      alert: alertname,
      text: app === undefined ? alertname : `${alertname} of ${app}`,
    }));
  }

  return {
    seen: () => [...seen.values()].toSorted((a, b) => (a.text < b.text ? -1 : 1)),
    begin() {
      begunAt = performance.now();
    },
    /** Seconds from the begin until it fires, or does not fire, for the first time, of each alert. */
    async untilEach(alerts: readonly string[], isFiring: boolean, timeoutMs: number): Promise<Map<string, number>> {
      const after = new Map<string, number>();
      const missing = () => alerts.filter((alert) => !after.has(alert));
      const check = async (): Promise<boolean> => {
        const now = await firing();
        for (const one of now) seen.set(one.text, one);
        for (const alert of missing())
          if (now.some((one) => one.alert === alert) === isFiring)
            after.set(alert, Math.round((performance.now() - begunAt) / 1_000));
        return missing().length === 0;
      };
      await until(check, { timeoutMs }).catch((error: unknown) => {
        const fired = [...seen.keys()].join(', ') || 'nothing';
        const what = isFiring ? 'fire' : 'end';
        throw new Error(`Waited in vain for ${missing().join(', ')} to ${what}; fired has ${fired}`, { cause: error });
      });
      return after;
    },
  };
}

async function followRunbook({ waypost }: AlertStage, alert: string): Promise<void> {
  const { code, output } = await runInTerminal(waypost, commandsOf(alert));
  if (code !== 0) throw new Error(`The commands of the runbook of ${alert} failed:\n${output}`);
}
