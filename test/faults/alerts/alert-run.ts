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
  await until(async () => (await watch.firing()).length === 0, { timeoutMs: CALM_WITHIN_MS });
  const scene = openScene(stage, String(alerts[0]).toLowerCase());
  let end: () => unknown = () => undefined;
  try {
    await scene.createFleet(scene.fleet);
    watch.begin();
    end = await provocation.provoke(scene);
    const fired = await watch.untilEach(alerts, (alert, firing) => firing.includes(alert), firesWithinMs);
    for (const alert of alerts) await followRunbook(stage, alert);
    await end();
    end = () => undefined;
    watch.begin();
    const ended = await watch.untilEach(alerts, (alert, firing) => !firing.includes(alert), ENDS_WITHIN_MS);
    const beside = watch.seen().filter((alert) => !alerts.includes(alert));
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

function alertWatch(prometheus: Prometheus) {
  const seen = new Set<string>();
  let begunAt = performance.now();

  async function firing(): Promise<string[]> {
    const series = await prometheus.query('group by (alertname) (ALERTS{alertstate="firing"})');
    return series.map(({ metric }) => metric['alertname'] ?? '');
  }

  return {
    firing,
    seen: () => [...seen].toSorted(),
    begin() {
      begunAt = performance.now();
    },
    /** Seconds from the begin until it holds for the first time, of each alert. */
    async untilEach(
      alerts: readonly string[],
      holds: (alert: string, firing: readonly string[]) => boolean,
      timeoutMs: number,
    ): Promise<Map<string, number>> {
      const after = new Map<string, number>();
      const missing = () => alerts.filter((alert) => !after.has(alert));
      const check = async (): Promise<boolean> => {
        const now = await firing();
        for (const alert of now) seen.add(alert);
        for (const alert of missing())
          if (holds(alert, now)) after.set(alert, Math.round((performance.now() - begunAt) / 1_000));
        return missing().length === 0;
      };
      await until(check, { timeoutMs }).catch((error: unknown) => {
        const waited = `Waited in vain for ${missing().join(', ')}; firing were ${[...seen].join(', ') || 'none'}`;
        throw new Error(waited, { cause: error });
      });
      return after;
    },
  };
}

async function followRunbook({ waypost }: AlertStage, alert: string): Promise<void> {
  const { code, output } = await runInTerminal(waypost, commandsOf(alert));
  if (code !== 0) throw new Error(`The commands of the runbook of ${alert} failed:\n${output}`);
}
