import { checkSubscriberUrl, type UrlCheckOptions } from '@waypost/egress';
import { type ErrorDetail, invalidBody } from '../errors/api-error.js';
import type { AuthBody } from './subscriptions.dto.js';

export type UrlCheck = { readonly type: 'accepted' } | { readonly type: 'refused'; readonly message: string };
export type CheckUrl = (url: string) => Promise<UrlCheck>;

export const CHECK_URL = Symbol('check of a subscriber URL');

/** The check of R-18 at creation; the sender checks again at every connection. */
export function createUrlCheck(options: UrlCheckOptions): CheckUrl {
  return async (url) => {
    const checked = await checkSubscriberUrl(url, options);
    return checked.type === 'accepted' ? { type: 'accepted' } : { type: 'refused', message: checked.message };
  };
}

/** @throws ApiError 400 naming every field of the body whose URL is refused */
export async function requireAcceptedUrls(
  checkUrl: CheckUrl,
  { url, auth }: { readonly url?: string | undefined; readonly auth?: AuthBody | undefined },
): Promise<void> {
  const urls: [field: string, url: string][] = [];
  if (url !== undefined) urls.push(['url', url]);
  if (auth?.type === 'bearer') urls.push(['auth.tokenUrl', auth.tokenUrl]);
  const details = await Promise.all(
    urls.map(async ([field, named]): Promise<ErrorDetail | null> => {
      const check = await checkUrl(named);
      return check.type === 'accepted' ? null : { field, message: check.message };
    }),
  );
  const refused = details.filter((detail) => detail !== null);
  if (refused.length > 0) throw invalidBody(refused);
}
