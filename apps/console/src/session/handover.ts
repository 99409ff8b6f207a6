const CHANNEL = 'waypost.handover';
/** From a click to the page that it opens; a context menu may stand open for a while. */
const OFFERED_MS = 60_000;
/** A tab that stands beside answers within a few milliseconds. */
const ANSWERED_WITHIN_MS = 250;
/** What opens a link in a tab of its own: the middle button, a click with a key held, the menu of the browser. */
const OPENINGS = ['auxclick', 'click', 'contextmenu'] as const;

interface Message {
  /** The address of the tab that asks. */
  readonly href: string;
  /** Only in an answer. */
  readonly apiKey?: string;
}

/**
 * Gives the session to the tabs that are opened from links of this one, and to no others: browsers do not copy the storage of
 * a tab there, and two tabs may be signed in to two fleets. Returns a function that ends it.
 */
export function offerSession(apiKey: string): () => void {
  const offers = new Map<string, number>();
  const channel = openChannel();
  if (channel === null) return () => undefined;

  function offer(event: MouseEvent): void {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const isHere = event.type === 'click' && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (link?.origin === location.origin && !isHere) offers.set(link.href, Date.now() + OFFERED_MS);
  }

  channel.onmessage = ({ data: { href, apiKey: given } }: MessageEvent<Message>) => {
    if (given !== undefined || (offers.get(href) ?? 0) < Date.now()) return;
    offers.delete(href);
    channel.postMessage({ href, apiKey } satisfies Message);
  };
  for (const opening of OPENINGS) document.addEventListener(opening, offer, { capture: true });
  return () => {
    channel.close();
    for (const opening of OPENINGS) document.removeEventListener(opening, offer, { capture: true });
  };
}

/** The key of the tab from which this address was opened; null: no tab offers it. */
export function askForSession(href: string): Promise<string | null> {
  const channel = openChannel();
  if (channel === null) return Promise.resolve(null);
  return new Promise<string | null>((resolve) => {
    const timer = setTimeout(() => resolve(null), ANSWERED_WITHIN_MS);
    channel.onmessage = ({ data }: MessageEvent<Message>) => {
      if (data.href !== href || data.apiKey === undefined) return;
      clearTimeout(timer);
      resolve(data.apiKey);
    };
    channel.postMessage({ href } satisfies Message);
  }).finally(() => channel.close());
}

/** null: the browser denies it, as it does together with its storage. */
function openChannel(): BroadcastChannel | null {
  try {
    return new BroadcastChannel(CHANNEL);
  } catch {
    return null;
  }
}
