import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { projectFile } from '../../../tools/dev-stack/project-root.js';
import { alertsOf } from '../../monitoring/deployed-expressions.js';
import { NOT_PROVOKED, PROVOCATIONS } from './provocations.js';

describe('The provocations', () => {
  it('are of every alert that is shipped, but for those that are listed with a reason', () => {
    const shipped = alertsOf(readFileSync(projectFile('deploy/prometheus/rules.yml'), 'utf8')).map(({ name }) => name);
    const known = [...PROVOCATIONS.flatMap(({ alerts }) => alerts), ...Object.keys(NOT_PROVOKED)];
    expect(known.toSorted()).toEqual(shipped.toSorted());
  });
});
