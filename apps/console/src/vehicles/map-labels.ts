/** A text on the map, and where it begins. */
export interface MapLabel {
  readonly text: string;
  readonly x: number;
  readonly y: number;
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

/** Those labels that stand on no earlier one: half a name is of no use. */
export function readable<Label extends MapLabel>(labels: readonly Label[], widthOf: (text: string) => number): Label[] {
  const taken: { left: number; right: number; y: number }[] = [];
  return labels.filter(({ text, x, y }) => {
    if (text === '') return false;
    const [left, right] = [x, x + widthOf(text)];
    const isFree = !taken.some(
      (one) => left < one.right + GAP_PX && right > one.left - GAP_PX && Math.abs(y - one.y) < HEIGHT_PX,
    );
    if (isFree) taken.push({ left, right, y });
    return isFree;
  });
}
