import type { DurationCounts } from './duration-histogram.js';
import { ATTEMPT_CLASSES, type Figures, summed, type SummedFigures } from './figures.js';

/** Figures in a row: values by position, as with the attempts of a delivery. Histograms are `[bucket, count, ...]`. */
type PackedFigures = readonly [
  started: number,
  delivered: number,
  failed: number,
  expired: number,
  retries: number,
  probes: number,
  attempts: readonly number[],
  latency: readonly number[],
  retryLateness: readonly number[],
];

export function packFigures(figures: Figures): string {
  const { started, delivered, failed, expired, retries, probes, attempts, latency, retryLateness } = summed(figures);
  const packed: PackedFigures = [
    ...([started, delivered, failed, expired, retries, probes] as const),
    ...([attempts, latency, retryLateness] as const),
  ];
  return JSON.stringify(packed);
}

/** The six counts and those of the classes of attempts, by their places in the text. */
const COUNTS = 6 + ATTEMPT_CLASSES.length;
/** More than any duration has whose milliseconds are a safe integer. */
const DURATION_BUCKETS = 400;

class DurationSum {
  private readonly counts = new Float64Array(DURATION_BUCKETS);
  private first = DURATION_BUCKETS;
  private last = -1;

  add(bucket: number, count: number): void {
    this.counts[bucket] = (this.counts[bucket] ?? 0) + count;
    if (bucket < this.first) this.first = bucket;
    if (bucket > this.last) this.last = bucket;
  }

  /** Begins again with nothing. */
  take(): DurationCounts {
    const taken: number[] = [];
    for (let bucket = this.first; bucket <= this.last; bucket += 1) {
      const count = this.counts[bucket] ?? 0;
      if (count !== 0) taken.push(bucket, count);
      this.counts[bucket] = 0;
    }
    this.first = DURATION_BUCKETS;
    this.last = -1;
    return taken;
  }
}

/**
 * The sum of many packed figures. It adds the numbers of their text where they stand: a day by minute has tens of thousands
 * of them, and arrays and maps of each would take two and a half times as long.
 */
export class PackedSum {
  private readonly counts = new Float64Array(COUNTS);
  private readonly histograms = [new DurationSum(), new DurationSum()] as const;
  /** Where the next number belongs: lists 0 and 1 are counts, 2 and 3 are histograms. */
  private list = 0;
  private place = 0;
  /** Of the pair that is read; -1: the next number is one. */
  private bucket = -1;

  /** @param text of one `packFigures`, or of several with commas between them */
  of(text: string): SummedFigures {
    this.sum(text);
    const { counts, histograms } = this;
    const at = (place: number): number => counts[place] ?? 0;
    const [latency, retryLateness] = histograms;
    const figures = {
      ...{ started: at(0), delivered: at(1), failed: at(2), expired: at(3), retries: at(4), probes: at(5) },
      attempts: Array.from(counts.subarray(COUNTS - ATTEMPT_CLASSES.length)),
      latency: latency.take(),
      retryLateness: retryLateness.take(),
    };
    counts.fill(0);
    return figures;
  }

  private sum(text: string): void {
    let depth = 0;
    let value = NaN;
    let sign = 1;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code >= ZERO && code <= NINE) {
        value = (value >= 0 ? value * 10 : 0) + code - ZERO;
      } else if (code === MINUS) {
        sign = -1;
      } else {
        if (value >= 0) this.add(sign * value);
        value = NaN;
        sign = 1;
        if (code === OPEN) this.openList((depth += 1));
        else if (code === CLOSE) depth -= 1;
      }
    }
  }

  private openList(depth: number): void {
    this.list = depth === 1 ? 0 : this.list + 1;
    if (depth === 1) this.place = 0;
  }

  private add(value: number): void {
    if (this.list < 2) {
      this.counts[this.place] = (this.counts[this.place] ?? 0) + value;
      this.place += 1;
    } else if (this.bucket < 0) {
      this.bucket = value;
    } else {
      this.histograms[this.list === 2 ? 0 : 1].add(this.bucket, value);
      this.bucket = -1;
    }
  }
}

const ZERO = '0'.charCodeAt(0);
const NINE = '9'.charCodeAt(0);
const MINUS = '-'.charCodeAt(0);
const OPEN = '['.charCodeAt(0);
const CLOSE = ']'.charCodeAt(0);
