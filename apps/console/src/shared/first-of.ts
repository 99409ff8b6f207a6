export interface Part<Item> {
  readonly items: readonly Item[];
  /** There are others, which were not read. */
  readonly hasMore: boolean;
}

/** As the API has them: the name of the token depends on the list. */
interface Page<Item> {
  readonly data: readonly Item[];
  readonly nextPageState?: string | null;
  readonly next_page_state?: string | null;
}

interface Most {
  readonly items?: number;
  readonly pages?: number;
}

/** Pages of large items end early (R-34a), so that few items may take many of them. */
const MAX_PAGES = 20;

/** The first items of a list: whether they are all of it is known, so that a page of the console can say so. */
export async function firstOf<Item>(
  pages: AsyncIterable<Page<Item>>,
  { items: mostItems = Infinity, pages: mostPages = MAX_PAGES }: Most,
): Promise<Part<Item>> {
  const items: Item[] = [];
  let read = 0;
  for await (const { data, nextPageState, next_page_state } of pages) {
    items.push(...data);
    read += 1;
    if (read < mostPages && items.length < mostItems) continue;
    // The token tells, without a request for a page of which nothing is shown.
    const hasMore = items.length > mostItems || (nextPageState ?? next_page_state ?? null) !== null;
    return { items: items.slice(0, mostItems), hasMore };
  }
  return { items, hasMore: false };
}
