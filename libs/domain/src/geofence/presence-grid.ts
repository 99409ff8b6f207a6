import type { BoxList } from './box-list.js';

/** One bit per place: enough to find most of the area empty, at proportional memory. */
const PLACES_PER_BOX = 64;
const WORD_BITS = 32;
const MAX_WORDS_OF_A_ROW = 8;

const SOUTH = 0;
const NORTH = 1;
const WEST = 2;
const EAST = 3;
const ROWS_PER_DEGREE = 4;
const COLUMNS_PER_DEGREE = 5;

/** Whether a place may be in any box. Most are in none, and a few kilobytes in the core's cache suffice to tell. */
export class PresenceGrid {
  private readonly frame: readonly number[];
  private readonly rowWords: number;
  private readonly lastPlace: number;
  private readonly places: Int32Array;

  constructor({ edges, alone }: BoxList) {
    const wanted = Math.ceil(Math.sqrt(PLACES_PER_BOX * alone.length) / WORD_BITS);
    this.rowWords = Math.min(MAX_WORDS_OF_A_ROW, wanted);
    this.lastPlace = this.rowWords * WORD_BITS - 1;
    this.frame = frameOf(edges, this.lastPlace + 1);
    this.places = new Int32Array((this.lastPlace + 1) * this.rowWords);
    for (let at = 0; at < edges.length; at += 4) this.mark(edges, at);
  }

  mayHold(latitude: number, longitude: number): boolean {
    const { frame } = this;
    if (!(latitude >= (frame[SOUTH] as number) && latitude <= (frame[NORTH] as number))) return false;
    if (!(longitude >= (frame[WEST] as number) && longitude <= (frame[EAST] as number))) return false;
    const column = this.column(longitude);
    const word = this.places[this.row(latitude) * this.rowWords + (column >>> 5)] as number;
    return ((word >>> (column & 31)) & 1) === 1;
  }

  private mark(edges: Float64Array, at: number): void {
    const first = this.column(edges[at + 2] as number);
    const last = this.column(edges[at + 3] as number);
    const lastRow = this.row(edges[at + 1] as number);
    for (let row = this.row(edges[at] as number); row <= lastRow; row++) {
      for (let word = first >>> 5; word <= last >>> 5; word++) {
        const from = Math.max(first, word * WORD_BITS) & 31;
        const to = Math.min(last, word * WORD_BITS + 31) & 31;
        const index = row * this.rowWords + word;
        this.places[index] = (this.places[index] as number) | ((-1 << from) & (-1 >>> (31 - to)));
      }
    }
  }

  private row(latitude: number): number {
    const { frame } = this;
    const rows = Math.floor((latitude - (frame[SOUTH] as number)) * (frame[ROWS_PER_DEGREE] as number));
    return Math.min(this.lastPlace, rows);
  }

  private column(longitude: number): number {
    const { frame } = this;
    const columns = Math.floor((longitude - (frame[WEST] as number)) * (frame[COLUMNS_PER_DEGREE] as number));
    return Math.min(this.lastPlace, columns);
  }
}

function frameOf(edges: Float64Array, places: number): readonly number[] {
  let [south, north, west, east] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let at = 0; at < edges.length; at += 4) {
    south = Math.min(south, edges[at] as number);
    north = Math.max(north, edges[at + 1] as number);
    west = Math.min(west, edges[at + 2] as number);
    east = Math.max(east, edges[at + 3] as number);
  }
  return [south, north, west, east, placesPerDegree(places, north - south), placesPerDegree(places, east - west)];
}

/** An area of zero width is one place. */
function placesPerDegree(places: number, degrees: number): number {
  const perDegree = places / degrees;
  return Number.isFinite(perDegree) ? perDegree : 0;
}
