/** A text on the map, and where it begins. */
export interface MapLabel {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  /** Where it ends on the other side of its mark, where the map has no room for it on this one. */
  readonly endX?: number;
}

const HEIGHT_PX = 14;
/** Between two names in one line, which would read as one. */
const GAP_PX = 6;
/** A device may be named by a hundred characters. */
const LONGEST = 28;

/** Its beginning, where it is too long to be read beside a point. */
export function shortened(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}

/** Those labels that stand on no earlier one, and within the map: half a name is of no use. */
export function readable(
  labels: readonly MapLabel[],
  widthOf: (text: string) => number,
  mapWidthPx: number,
): readonly MapLabel[] {
  const taken: { left: number; right: number; y: number }[] = [];
  return labels.flatMap(({ text, x, y, endX }) => {
    if (text === '') return [];
    const width = widthOf(text);
    const left = endX !== undefined && x + width > mapWidthPx ? endX - width : x;
    const right = left + width;
    const isFree = !taken.some(
      (one) => left < one.right + GAP_PX && right > one.left - GAP_PX && Math.abs(y - one.y) < HEIGHT_PX,
    );
    if (!isFree) return [];
    taken.push({ left, right, y });
    return [{ text, x: left, y }];
  });
}
