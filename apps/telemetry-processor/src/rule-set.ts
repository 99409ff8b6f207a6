/** `positions`: nothing but, so neither geofences nor routes and stops, whatever a fleet asks for. */
export const RULE_SETS = ['all', 'positions'] as const;

export type RuleSet = (typeof RULE_SETS)[number];
