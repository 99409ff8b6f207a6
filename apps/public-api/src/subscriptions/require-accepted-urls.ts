import { type ErrorDetail, invalidBody } from '../errors/api-error.js';
import type { AuthBody } from './subscription-body.js';
import type { UrlCheck } from './url-check.js';

interface BodyWithUrls {
  readonly url?: string | undefined;
  readonly auth?: AuthBody | undefined;
}

/**
 * Checks every URL that a body names.
 *
 * @throws ApiError 400 naming every field whose URL is refused
 */
export async function requireAcceptedUrls(
  checkUrl: (url: string) => Promise<UrlCheck>,
  body: BodyWithUrls,
): Promise<void> {
  const urls: [string, string][] = [];
  if (body.url !== undefined) urls.push(['url', body.url]);
  if (body.auth?.type === 'bearer') urls.push(['auth.tokenUrl', body.auth.tokenUrl]);
  const details = await Promise.all(
    urls.map(async ([field, url]): Promise<ErrorDetail | null> => {
      const check = await checkUrl(url);
      return check.type === 'accepted' ? null : { field, message: check.message };
    }),
  );
  const refused = details.filter((detail) => detail !== null);
  if (refused.length > 0) throw invalidBody(refused);
}
