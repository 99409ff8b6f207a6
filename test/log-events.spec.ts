import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const ROOT = new URL('..', import.meta.url).pathname;
const LOGGED = /\.(?:info|warn|error|fatal)\(\s*'([a-z]+(?:_[a-z]+)+)'/gu;

describe('the table of log events in docs/operations.md', () => {
  const tracked = execFileSync('git', ['ls-files', 'apps', 'libs'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
  const sources = tracked.filter((file) => file.endsWith('.ts') && !/\.spec\.ts$|\/testing\/|^apps\/cli\//u.test(file));
  const texts = sources.map((file) => readFileSync(join(ROOT, file), 'utf8'));
  const logged = new Set(texts.flatMap((text) => [...text.matchAll(LOGGED)].flatMap(([, event = '']) => event)));
  const page = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
  const names = (text: string): string[] =>
    [...text.matchAll(/`([a-z]+(?:_[a-z]+)+)`/gu)].flatMap(([, name = '']) => name);
  const rows = (page.split('| Event ')[1] ?? '').split('\n## ')[0] ?? '';
  const firstColumn = rows
    .split('\n')
    .map((row) => row.split('|')[1] ?? '')
    .join('\n');

  it('has every event that is logged at level info or above', () => {
    const named = new Set(names(firstColumn).concat(names(page.split('## Logs')[1]?.split('| Event ')[0] ?? '')));
    expect([...logged].filter((event) => !named.has(event))).toEqual([]);
  });

  it('has no event that is not logged any more', () => {
    const source = texts.join('\n');
    expect(names(firstColumn).filter((event) => !source.includes(`'${event}'`))).toEqual([]);
  });
});
