/** What one check found. `problem`: Waypost would not work; `warning`: it would, and less safely than it can. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'problem';
  /** `kafka`, `registry` or `database` */
  readonly about: string;
  readonly what: string;
  /** What to do about it; null: nothing. */
  readonly fix: string | null;
}

export function ok(about: string, what: string): Finding {
  return { level: 'ok', about, what, fix: null };
}

export function problem(about: string, what: string, fix: string): Finding {
  return { level: 'problem', about, what, fix };
}

export function warning(about: string, what: string, fix: string): Finding {
  return { level: 'warning', about, what, fix };
}
