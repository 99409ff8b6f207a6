import type { V2Event } from '@waypost/client';

type Attempt = V2Event['delivery']['attempts'][number];

/** The attempt before this one that got the same response, whose text need not be shown again; null: there is none. */
export function sameResponseBefore(attempts: readonly Attempt[], index: number): Attempt | null {
  const { responseBody, statusCode } = attempts[index] ?? {};
  if (responseBody === undefined) return null;
  const isSame = (one: Attempt): boolean => one.responseBody === responseBody && one.statusCode === statusCode;
  return attempts.slice(0, index).find(isSame) ?? null;
}
