/** Walks over all deliveries of a fleet with the largest pages, in a process of its own: `DATABASE_URL FLEET_ID`. */
import { createPageSource } from '@waypost/database';
import { MAX_PAGE_ITEMS } from '@waypost/domain';
import { createDeliveryHistory } from '@waypost/history-store';
import { DeliveryPagesService } from '../delivery-history/delivery-pages.service.js';
import { v2PageText } from '../events-v2/events-v2.page.js';
import { DeliveryPageStates } from '../paging/page-states.js';

/** What the process prints of each page, as a line of JSON. */
export interface WalkedPage {
  readonly eventIds: readonly string[];
  readonly textLength: number;
}

const [databaseUrl = '', fleetId = ''] = process.argv.slice(2);
const source = createPageSource(databaseUrl);
const pages = new DeliveryPagesService(
  createDeliveryHistory({ pages: source }),
  new DeliveryPageStates({ pageTokenKeys: [Buffer.alloc(32, 3)] }, Date.now),
  Date.now,
);
let pageState: string | undefined;
do {
  const request = {
    caller: { fleetId, subscriptionIds: null },
    path: '/public/v2/events',
    filters: {},
    limit: MAX_PAGE_ITEMS,
    pageState,
  };
  const page = await pages.read(request);
  const walked: WalkedPage = {
    eventIds: page.records.map(({ eventId }) => eventId),
    textLength: v2PageText(page, { includeBody: true }).length,
  };
  process.stdout.write(`${JSON.stringify(walked)}\n`);
  pageState = page.nextPageState ?? undefined;
} while (pageState !== undefined);
await source.close();
