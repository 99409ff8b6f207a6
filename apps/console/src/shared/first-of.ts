export interface Part<Item> {
  readonly items: readonly Item[];
  /** There are others, which were not read. */
  readonly hasMore: boolean;
}

/** What a list has, up to a bound: whether it is all of it is known, so that a page can say so. */
export async function firstOf<Item>(list: AsyncIterable<Item>, most: number): Promise<Part<Item>> {
  const items: Item[] = [];
  for await (const item of list) {
    if (items.length === most) return { items, hasMore: true };
    items.push(item);
  }
  return { items, hasMore: false };
}
