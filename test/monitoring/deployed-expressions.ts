import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Alert {
  readonly name: string;
  readonly expression: string;
  readonly severity: string;
  readonly runbookUrl: string;
}

export interface DeployedExpression {
  /** The alert, or the dashboard and its panel. */
  readonly of: string;
  readonly expression: string;
  /** Labels that its legend shows. */
  readonly shown: readonly string[];
}

/** The alerts of deploy/prometheus/rules.yml, one field a line as that file writes them. */
export function alertsOf(text: string): Alert[] {
  return text
    .split(/^ {6}- alert: /m)
    .slice(1)
    .map((block) => {
      const field = (name: string): string => new RegExp(`^ +${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
      return {
        name: block.slice(0, block.indexOf('\n')),
        expression: field('expr'),
        severity: field('severity'),
        runbookUrl: field('runbook_url'),
      };
    });
}

interface Dashboard {
  readonly title: string;
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

/** Every expression of every dashboard below deploy/grafana. */
export function dashboardExpressions(folder: string): DeployedExpression[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return names.flatMap((name) => {
    const dashboard = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Dashboard;
    return dashboard.panels.flatMap(({ title, targets }) =>
      targets.map(({ expr, legendFormat }) => ({
        of: `${dashboard.title}, ${title}`,
        expression: expr,
        shown: [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label),
      })),
    );
  });
}
