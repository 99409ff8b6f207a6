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

/** What the first pages of a list have: whether it is all of it is known, so that a page of the console can say so. */
export async function firstOf<Item>(pages: AsyncIterable<Page<Item>>, mostPages: number): Promise<Part<Item>> {
  const items: Item[] = [];
  let read = 0;
  for await (const { data, nextPageState, next_page_state } of pages) {
    items.push(...data);
    read += 1;
    // The token tells, without a request for a page of which nothing is shown.
    if (read === mostPages) return { items, hasMore: (nextPageState ?? next_page_state ?? null) !== null };
  }
  return { items, hasMore: false };
}
