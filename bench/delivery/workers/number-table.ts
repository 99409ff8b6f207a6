import { readFileSync, writeFileSync } from 'node:fs';

const FIRST_ROWS = 4_096;

/** Rows of numbers in one block of memory: a million observations cost some megabytes and no garbage. */
export class NumberTable {
  rows = 0;

  private constructor(
    readonly width: number,
    private cells: Float64Array,
  ) {}

  static empty(width: number): NumberTable {
    return new NumberTable(width, new Float64Array(width * FIRST_ROWS));
  }

  static load(file: string, width: number): NumberTable {
    const bytes = readFileSync(file);
    const cells = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    const table = new NumberTable(width, cells);
    table.rows = cells.length / width;
    return table;
  }

  /** @returns the number of the new row */
  append(...row: readonly number[]): number {
    const at = this.rows * this.width;
    if (at + this.width > this.cells.length) this.grow();
    this.cells.set(row, at);
    this.rows += 1;
    return this.rows - 1;
  }

  get(row: number, column: number): number {
    return this.cells[row * this.width + column] ?? NaN;
  }

  set(row: number, column: number, value: number): void {
    this.cells[row * this.width + column] = value;
  }

  clear(): void {
    this.rows = 0;
  }

  save(file: string): void {
    const { buffer, byteOffset } = this.cells;
    writeFileSync(file, new Uint8Array(buffer, byteOffset, this.rows * this.width * Float64Array.BYTES_PER_ELEMENT));
  }

  private grow(): void {
    const larger = new Float64Array(this.cells.length * 2);
    larger.set(this.cells);
    this.cells = larger;
  }
}
