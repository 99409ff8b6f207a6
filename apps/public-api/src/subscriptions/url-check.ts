import { checkSubscriberUrl, type UrlCheckOptions } from '@waypost/egress';

export type UrlCheck = { readonly type: 'accepted' } | { readonly type: 'refused'; readonly message: string };

/** The check of R-18 at creation; the sender checks again at every connection. */
export function createUrlCheck(options: UrlCheckOptions): (url: string) => Promise<UrlCheck> {
  return async (url) => {
    const checked = await checkSubscriberUrl(url, options);
    return checked.type === 'accepted' ? { type: 'accepted' } : { type: 'refused', message: checked.message };
  };
}
