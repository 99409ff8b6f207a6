/** the most deliveries or points of a page. */
export const MAX_PAGE_ITEMS = 2_000;
/** R-34a: of the records of a page as stored, unless a single one has more. The text of the page may be three times as long. */
export const MAX_PAGE_BYTES = 4_194_304;
