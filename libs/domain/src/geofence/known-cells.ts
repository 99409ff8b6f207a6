import type { BoxList } from './box-list.js';

/** Below 1 MB of slots and, with 40 bytes per box, 6 MB of boxes; beyond, it starts empty again. */
export const MAX_KNOWN_CELLS = 16_384;
export const MAX_KNOWN_BOXES = 131_072;
/** Comparing as many takes as long as a search, and a fleet may lay all its geofences over one city. */
export const MAX_BOXES_OF_CELL = 256;
const CROWDED = -1;

const FIRST_SLOTS = 64;
const FIRST_BOXES = 16;
/** Words per slot: cell number + 1, or 0 if empty; first box; number of boxes, or CROWDED; unused. */
const STRIDE = 4;
const FIRST_BOX = 1;
const BOXES = 2;
/** Knuth's multiplicative hash. */
const SCATTER = 0x9e3779b1;

/** Open addressing in typed arrays, since each pointer that a lookup follows may miss the cache. */
export class KnownCells implements BoxList {
  edges = new Float64Array(4 * FIRST_BOXES);
  readonly alone: BoxList['alone'][number][] = [];
  size = 0;
  private slots = new Int32Array(STRIDE * FIRST_SLOTS);

  /** -1: not known. Valid until the next add(). */
  find(cell: number): number {
    const { slots } = this;
    for (let at = this.placeOf(cell); slots[at] !== 0; at = this.next(at)) if (slots[at] === cell + 1) return at;
    return -1;
  }

  firstBox(at: number): number {
    return this.slots[at + FIRST_BOX] as number;
  }

  boxCount(at: number): number {
    return this.slots[at + BOXES] as number;
  }

  /** It has too many boxes to be kept. */
  isCrowded(at: number): boolean {
    return this.slots[at + BOXES] === CROWDED;
  }

  add(cell: number, all: BoxList, numbers: readonly number[]): number {
    const isCrowded = numbers.length > MAX_BOXES_OF_CELL;
    const count = isCrowded ? 0 : numbers.length;
    if (this.size >= MAX_KNOWN_CELLS || this.alone.length + count > MAX_KNOWN_BOXES) this.clear();
    if (2 * (this.size + 1) * STRIDE > this.slots.length) this.grow();
    const first = this.alone.length;
    if (!isCrowded) for (const number of numbers) this.addBox(all, number);
    this.size++;
    return this.occupy(cell, first, isCrowded ? CROWDED : count);
  }

  private clear(): void {
    this.edges = new Float64Array(4 * FIRST_BOXES);
    this.alone.length = 0;
    this.size = 0;
    this.slots = new Int32Array(STRIDE * FIRST_SLOTS);
  }

  private addBox(all: BoxList, number: number): void {
    const at = 4 * this.alone.length;
    if (at === this.edges.length) {
      const grown = new Float64Array(2 * at);
      grown.set(this.edges);
      this.edges = grown;
    }
    // A subarray of four numbers would cost more.
    for (let edge = 0; edge < 4; edge++) this.edges[at + edge] = all.edges[4 * number + edge] as number;
    this.alone.push(all.alone[number] as BoxList['alone'][number]);
  }

  private occupy(cell: number, first: number, count: number): number {
    const { slots } = this;
    let at = this.placeOf(cell);
    while (slots[at] !== 0) at = this.next(at);
    slots[at] = cell + 1;
    slots[at + FIRST_BOX] = first;
    slots[at + BOXES] = count;
    return at;
  }

  private grow(): void {
    const before = this.slots;
    this.slots = new Int32Array(2 * before.length);
    for (let at = 0; at < before.length; at += STRIDE) {
      const name = before[at] as number;
      if (name !== 0) this.occupy(name - 1, before[at + FIRST_BOX] as number, before[at + BOXES] as number);
    }
  }

  private placeOf(cell: number): number {
    const hash = Math.imul(cell, SCATTER);
    return ((hash ^ (hash >>> 15)) & (this.slots.length / STRIDE - 1)) * STRIDE;
  }

  private next(at: number): number {
    return (at + STRIDE) % this.slots.length;
  }
}
