/** Longer keys are refused: a key's length has two bytes in an entry. */
const MAX_KEY_BYTES = 65_535;

const FIRST_BYTES = 256;
const ASCII_END = 0x80;

/** Builds the key of a compact store in one reused buffer: a lookup creates neither a string nor a Buffer. */
export class KeyBuilder {
  /** The number of the current key, which changes with each reset(). */
  revision = 0;
  length = 0;
  bytes: Uint8Array = new Uint8Array(FIRST_BYTES);
  words: Int32Array = new Int32Array(this.bytes.buffer);

  reset(): this {
    this.length = 0;
    this.revision++;
    return this;
  }

  append(bytes: Uint8Array, start: number, end: number): this {
    const to = this.room(end - start);
    const into = this.bytes;
    for (let from = start, at = to; from < end; from++, at++) into[at] = bytes[from] as number;
    return this;
  }

  appendByte(byte: number): this {
    // Must come first: `bytes` is replaced if it has to grow.
    const to = this.room(1);
    this.bytes[to] = byte;
    return this;
  }

  appendText(text: string): this {
    const start = this.length;
    const to = this.room(text.length);
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit >= ASCII_END) {
        this.length = start;
        const encoded = Buffer.from(text);
        return this.append(encoded, 0, encoded.length);
      }
      this.bytes[to + i] = unit;
    }
    return this;
  }

  /** Pads the last word with zeros, so that equal keys are equal words. @returns the number of words */
  seal(): number {
    const wordCount = (this.length + 3) >>> 2;
    const end = wordCount << 2;
    for (let at = this.length; at < end; at++) this.bytes[at] = 0;
    return wordCount;
  }

  private room(count: number): number {
    const at = this.length;
    const length = at + count;
    if (length > MAX_KEY_BYTES) {
      throw new TypeError(`A key of a compact store has at most ${String(MAX_KEY_BYTES)} bytes.`);
    }
    if (length > this.bytes.length) this.grow(length);
    this.length = length;
    return at;
  }

  private grow(length: number): void {
    const bytes = new Uint8Array(Math.min(MAX_KEY_BYTES + 1, Math.max(2 * this.bytes.length, (length + 3) & ~3)));
    bytes.set(this.bytes);
    this.bytes = bytes;
    this.words = new Int32Array(bytes.buffer);
  }
}
