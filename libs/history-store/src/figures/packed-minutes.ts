import { PackedSum, packFigures } from './packed-figures.js';

/**
 * Figures by minute in one text: minutes from the start of the row's bucket, packed figures, and so on. A minute may
 * occur several times, to be added up, so that more of it can be appended. Figures without a number belong to the whole
 * bucket.
 */
export type PackedMinutes = string;

/** Ends the last list and the figures; it occurs nowhere else in them. */
const FIGURES_END = ']]';

/** @param visit gets the minute, and where in the text its figures begin and end */
export function visitMinutes(
  text: PackedMinutes,
  visit: (minute: number, place: number, endPlace: number) => void,
): void {
  for (let at = 0; at < text.length;) {
    const place = text.indexOf('[', at);
    const lastPlace = text.indexOf(FIGURES_END, place);
    if (place === -1 || lastPlace === -1) throw new RangeError(`Malformed packed minutes: ${text.slice(at)}`);
    const endPlace = lastPlace + FIGURES_END.length;
    visit(Number(text.slice(at, place)), place, endPlace);
    at = endPlace;
  }
}

/** Returns each minute once. */
export function minutesOf(text: PackedMinutes): Map<number, string> {
  const places = new Map<number, (readonly [place: number, endPlace: number])[]>();
  visitMinutes(text, (minute, place, endPlace) => {
    const known = places.get(minute);
    if (known === undefined) places.set(minute, [[place, endPlace]]);
    else known.push([place, endPlace]);
  });
  const sum = new PackedSum();
  const minutes = new Map<number, string>();
  for (const [minute, of] of places) {
    const [first] = of;
    if (first !== undefined && of.length === 1) minutes.set(minute, text.slice(...first));
    else {
      for (const [place] of of) sum.add(text, place);
      minutes.set(minute, packFigures(sum.take()));
    }
  }
  return minutes;
}

export function packMinutes(minutes: Iterable<readonly [minute: number, figures: string]>): PackedMinutes {
  let text = '';
  for (const [minute, figures] of minutes) text += `${String(minute)}${figures}`;
  return text;
}

export function packedSumOf(text: PackedMinutes): string {
  const sum = new PackedSum();
  visitMinutes(text, (_, place) => sum.add(text, place));
  return packFigures(sum.take());
}
