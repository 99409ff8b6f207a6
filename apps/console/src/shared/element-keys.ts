/**
 * The keys of the elements that show these rows, by row. A row keeps its element while it is in sight, and the focus with it. Where
 * none stays, as in a fast live tail, those that follow take the elements over: to change their texts costs less than to make them.
 */
export function elementKeys(
  before: ReadonlyMap<string, number>,
  rowIds: readonly string[],
): ReadonlyMap<string, number> {
  const used = [...before.values()];
  const isAnyLeft = rowIds.some((id) => before.has(id));
  let unused = Math.max(-1, ...used) + 1;
  return new Map(
    rowIds.map((id, place) => {
      const key = isAnyLeft ? before.get(id) : used[place];
      return [id, key ?? unused++];
    }),
  );
}
