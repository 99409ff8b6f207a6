import type { Request } from 'express';

/** What stands behind `Bearer` in the Authorization header, or null. */
export function bearerToken(request: Request): string | null {
  return /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
}
