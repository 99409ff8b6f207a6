import type { DurationCounts } from './duration-histogram.js';
import { ATTEMPT_CLASSES, type SummedFigures } from './figures.js';

/**
 * Figures in a row: `[started, delivered, failed, expired, retries, probes, [attempts], [latency], [retry lateness]]`,
 * with the counts of attempts in the order of ATTEMPT_CLASSES and histograms as `bucket, count, ...`. Zero counts are
 * omitted between their commas: most of a single delivery's are.
 */
export function packFigures(figures: SummedFigures): string {
  const { started, delivered, failed, expired, retries, probes, attempts, latency, retryLateness } = figures;
  const outcomes = [started, delivered, failed, expired, retries, probes];
  return `[${packCounts(outcomes)},[${packCounts(attempts)}],[${latency.join(',')}],[${retryLateness.join(',')}]]`;
}

function packCounts(counts: readonly number[]): string {
  let text = '';
  for (const [place, count] of counts.entries()) text += `${place === 0 ? '' : ','}${count === 0 ? '' : String(count)}`;
  return text;
}

/** The counts before those of the classes of attempts, in the order of the text. */
const OUTCOMES = 6;
const COUNTS = OUTCOMES + ATTEMPT_CLASSES.length;
/** More than any duration of a safe integer number of milliseconds has. */
const DURATION_BUCKETS = 400;

class DurationSum {
  private readonly counts = new Int32Array(DURATION_BUCKETS);
  private first = DURATION_BUCKETS;
  private last = -1;

  add(bucket: number, count: number): void {
    this.counts[bucket] = (this.counts[bucket] ?? 0) + count;
    if (bucket < this.first) this.first = bucket;
    if (bucket > this.last) this.last = bucket;
  }

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
 * The sum of many packed figures. It adds the numbers in place, in the form that `packFigures` writes: a day by minute
 * has a million characters, and `JSON.parse` alone would take twice as long.
 */
export class PackedSum {
  /** Integers up to two billion, so that results have no floating-point numbers, which are slower to write as JSON. */
  private readonly counts = new Int32Array(COUNTS);
  private readonly latency = new DurationSum();
  private readonly retryLateness = new DurationSum();
  private text = '';
  private at = 0;

  /** `place` is where the figures begin in a text that may have others around them. */
  add(text: string, place = 0): void {
    this.text = text;
    // Skips a bracket, or the comma before one.
    this.at = place + 1;
    this.addCounts(0, OUTCOMES);
    this.at += 1;
    this.addCounts(OUTCOMES, COUNTS);
    this.at += 1;
    this.addDurations(this.latency);
    this.at += 1;
    this.addDurations(this.retryLateness);
  }

  private addCounts(from: number, to: number): void {
    const { counts } = this;
    for (let place = from; place < to; place += 1) counts[place] = (counts[place] ?? 0) + this.number();
  }

  private addDurations(sum: DurationSum): void {
    this.at += 1;
    if (this.text.charCodeAt(this.at) === CLOSE) this.at += 1;
    else {
      do sum.add(this.number(), this.number());
      while (this.text.charCodeAt(this.at - 1) !== CLOSE);
    }
  }

  /** Also skips the character after it; no digits mean zero. */
  private number(): number {
    const { text } = this;
    let { at } = this;
    const isNegative = text.charCodeAt(at) === MINUS;
    if (isNegative) at += 1;
    let value = 0;
    for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE; code = text.charCodeAt(at)) {
      value = value * 10 + code - ZERO;
      at += 1;
    }
    this.at = at + 1;
    return isNegative ? -value : value;
  }

  /** Returns the sum and starts over. By index: iterating over a typed array takes as long as the whole sum. */
  take(): SummedFigures {
    const { counts } = this;
    const attempts: number[] = [];
    for (let place = OUTCOMES; place < COUNTS; place += 1) attempts.push(counts[place] ?? 0);
    const figures = {
      started: counts[0] ?? 0,
      delivered: counts[1] ?? 0,
      failed: counts[2] ?? 0,
      expired: counts[3] ?? 0,
      retries: counts[4] ?? 0,
      probes: counts[5] ?? 0,
      attempts,
      latency: this.latency.take(),
      retryLateness: this.retryLateness.take(),
    };
    counts.fill(0);
    return figures;
  }
}

const ZERO = '0'.charCodeAt(0);
const NINE = '9'.charCodeAt(0);
const MINUS = '-'.charCodeAt(0);
const CLOSE = ']'.charCodeAt(0);
