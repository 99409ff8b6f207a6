import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { projectFile } from '../../../tools/dev-stack/project-root.js';
import { shortenedRules } from './shortened-rules.js';

const shipped = readFileSync(projectFile('deploy/prometheus/rules.yml'), 'utf8');

describe('The rules that alerts are provoked with', () => {
  it.each([
    ['for: 2m', 'for: 4000ms'],
    ['keep_firing_for: 10m', 'keep_firing_for: 20000ms'],
    ['for: 0m', 'for: 0ms'],
    ['rate(a{b="5m"}[30m]) > 60 unless a offset 1h', 'rate(a{b="5m"}[60000ms]) > 60 unless a offset 120000ms'],
    ['# a process ends after 5 minutes', '# a process ends after 5 minutes'],
  ])('turn %s into %s by the factor 30', (text, short) => {
    expect(shortenedRules(text, 30)).toBe(short);
  });

  it('are the shipped ones but for durations, of which none is left as it was', () => {
    const withoutDurations = (text: string) => text.replaceAll(/\d+(ms|[smh])\b/g, 'T');
    const short = shortenedRules(shipped, 30);
    expect(withoutDurations(short)).toBe(withoutDurations(shipped));
    expect(short).not.toMatch(/(for: |\[|offset )\d+[smh]\b/);
  });
});
