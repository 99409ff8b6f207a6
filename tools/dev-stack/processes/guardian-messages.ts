/** Messages from the stack's process to its guardian, one JSON line each. */
export type GuardianMessage =
  | { readonly type: 'watch'; readonly pid: number; readonly startTime: string; readonly signal: NodeJS.Signals }
  | { readonly type: 'forget'; readonly pid: number };
