import type { Subscription } from '@waypost/client';
import { type Deed, lackOf, type Reader } from '../session/access.js';
import { isUuid } from '../shared/uuid.js';
import { subscriptionName } from '../subscriptions/subscription-name.js';
import type { Place } from './places.js';

export interface Command {
  readonly title: string;
  readonly href: string;
  /** What the page is for, where it is more than reading. */
  readonly deed?: Deed;
}

const MAX_SUBSCRIPTIONS = 8;
/** Below the places of the menu, by the path of the place. */
const PAGES: readonly Command[] = [
  { title: 'Live tail of attempts', href: '/deliveries?view=live' },
  { title: 'Failed deliveries', href: '/deliveries?status=failed' },
  { title: 'Resends and their progress', href: '/deliveries/resends' },
  { title: 'New subscription', href: '/subscriptions/new', deed: 'subscriptions:create' },
  { title: 'Draw a geofence', href: '/vehicles?geofence=new', deed: 'geofences:write' },
];

/** What a text may mean: an id, a code, a page, a subscription, a device, or a field of a payload. */
export function commandsOf(
  text: string,
  places: readonly Place[],
  subscriptions: readonly Subscription[],
  reader: Reader | null,
): Command[] {
  const isBelow = ({ href }: Command): boolean => places.some(({ path }) => href.startsWith(path));
  const isAllowed = ({ deed }: Command): boolean => deed === undefined || lackOf(reader, deed) === null;
  const pages: Command[] = [...places.map(({ title, path }) => ({ title, href: path })), ...PAGES];
  const words = text.trim();
  const isIn = (title: string): boolean => title.toLowerCase().includes(words.toLowerCase());
  const found = subscriptions.filter((one) => isIn(subscriptionName(one)) || one.id === words);
  return [
    ...meant(words).filter(isBelow),
    ...pages.filter((page) => isBelow(page) && isAllowed(page) && isIn(page.title)),
    ...found.slice(0, words === '' ? 0 : MAX_SUBSCRIPTIONS).map((one) => ({
      title: `Subscription ${subscriptionName(one)}`,
      href: `/subscriptions/${one.id}`,
    })),
  ];
}

function meant(words: string): Command[] {
  if (words === '') return [];
  if (isUuid(words)) return [{ title: `Event ${words}`, href: `/deliveries/${words}` }];
  const encoded = encodeURIComponent(words);
  const ofDevice = [
    { title: `Deliveries of the device ${words}`, href: `/deliveries?deviceId=${encoded}` },
    { title: `Path of the device ${words}`, href: `/vehicles?deviceId=${encoded}` },
  ];
  if (/^[\w.]+:./.test(words))
    return [{ title: `Deliveries whose payload has ${words}`, href: `/deliveries?payload=${encoded}` }, ...ofDevice];
  if (!/^[1-5]\d\d$/.test(words)) return ofDevice;
  return [{ title: `Deliveries with the code ${words}`, href: `/deliveries?statusCode=${words}` }, ...ofDevice];
}
