/** The values of WAYPOST_RULES. `positions`: only, so no fleet has geofences, routes or stops. */
export const RULE_SETS = ['all', 'positions'] as const;

export type RuleSet = (typeof RULE_SETS)[number];
