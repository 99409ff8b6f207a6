import { readFileSync } from 'node:fs';
import { projectFile } from '../../../tools/dev-stack/project-root.js';
import { shellBlocks } from '../../support/documented-commands.js';

const PAGE = 'docs/operations.md';

/** The commands of an alert: those at the head of the chapter, then its own. */
export function commandsOf(alert: string): string[] {
  const [general = ''] = chapter();
  return [...shellBlocks(general), ...shellBlocks(runbookOf(alert))];
}

/** The query that its runbook has for the database. */
export function queryOf(alert: string): string {
  const [, query] = /^```sql\n([^]*?)^```/m.exec(runbookOf(alert)) ?? [];
  if (query === undefined) throw new Error(`The runbook of ${alert} has no query.`);
  return query;
}

function runbookOf(alert: string): string {
  const found = chapter().find((text) => text.startsWith(`${alert}\n`));
  if (found === undefined) throw new Error(`There is no runbook of ${alert}.`);
  return found;
}

function chapter(): string[] {
  const [, text = ''] = /^## Alerts\n([^]*?)^## /m.exec(readFileSync(projectFile(PAGE), 'utf8')) ?? [];
  return text.split(/^### /m);
}
