/**
 * R-34a: the most bytes of the records of a page, as they are stored, unless a single record has more. The text of a page
 * repeats some of it: with `include=body` and a body of quotation marks it is three times as long.
 */
export const MAX_PAGE_BYTES = 4_194_304;
