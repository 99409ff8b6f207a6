/** the maximum number of deliveries or points per page. */
export const MAX_PAGE_ITEMS = 2_000;
/** The maximum stored bytes of a page, unless a single record has more (R-34a). Its text may be three times as long. */
export const MAX_PAGE_BYTES = 4_194_304;
