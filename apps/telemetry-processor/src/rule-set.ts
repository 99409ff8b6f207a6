import { DEFAULT_RULE_SETTINGS, type RuleSettings } from '@waypost/domain';

/** `positions`: nothing but, so neither geofences nor routes and stops. */
export const RULE_SETS = ['all', 'positions'] as const;

export type RuleSet = (typeof RULE_SETS)[number];

export const settingsOf = (rules: RuleSet): RuleSettings =>
  rules === 'all' ? DEFAULT_RULE_SETTINGS : { ...DEFAULT_RULE_SETTINGS, routes: null };
