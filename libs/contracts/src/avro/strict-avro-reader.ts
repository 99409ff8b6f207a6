import type avro from 'avsc';
import avscInternals from 'avsc/lib/utils.js';
import { LONG_LIMIT, MAX_LONG_BYTES } from './avro-long.js';

/**
 * Reads untrusted Avro bytes.
 *
 * Hazard: avsc's own reader does not notice that it has run past the end until the whole value is read. A corrupt block
 * count of a map or array (one bad byte in a ping) then loops up to 2^53 times and hangs the process. This reader stops
 * at the first read that is beyond the end or makes no progress. It depends on avsc internals (`Tap`, `_read`), hence
 * the exact version in package.json and the corrupt-bytes tests beside this file.
 */
export function readAvro(type: avro.Type, resolver: AvroResolver | null, data: Buffer): unknown {
  const tap = new StrictTap(data, 0);
  const value = (resolver ?? (type as unknown as AvroResolver))._read(tap);
  if (tap.pos !== data.length) throw new Error(`${String(data.length - tap.pos)} bytes left over after the record`);
  return value;
}

/** What avsc's `createResolver` returns: reads the writer's bytes into the reader's shape. */
export interface AvroResolver {
  _read(tap: unknown): unknown;
}

export function resolverOf(reader: avro.Type, writer: avro.Type): AvroResolver {
  return reader.createResolver(writer) as unknown as AvroResolver;
}

class StrictTap extends avscInternals.Tap {
  private furthest = 0;

  override readBoolean(): boolean {
    const value = super.readBoolean();
    this.assertInside();
    return value;
  }

  override readInt(): number {
    const value = this.readLong();
    // avsc would return it, and refuse to write it again.
    if (value !== (value | 0)) throw new Error('an int is beyond 32 bits');
    return value;
  }

  override readLong(): number {
    const value = this.readAnyLong();
    if (!(Math.abs(value) < LONG_LIMIT)) throw new Error('a long is beyond 2^52');
    return value;
  }

  /** null: beyond 2^52. */
  readReportedLong(): number | null {
    const start = this.pos;
    const value = this.readAnyLong();
    if (Math.abs(value) < LONG_LIMIT) return value;
    if (this.pos - start > MAX_LONG_BYTES) throw new Error('a long is beyond 64 bits');
    return null;
  }

  /** avsc computes in doubles at twice the value: beyond 2^52 it returns a wrong number, even of the other sign. */
  private readAnyLong(): number {
    const value = super.readLong();
    this.assertProgress();
    return value;
  }

  override readFloat(): number | undefined {
    const value = super.readFloat();
    this.assertInside();
    return value;
  }

  override readDouble(): number | undefined {
    const value = super.readDouble();
    this.assertInside();
    return value;
  }

  override readFixed(length: number): Buffer | undefined {
    const value = super.readFixed(length);
    this.assertInside();
    return value;
  }

  override readString(): string | undefined {
    const value = super.readString();
    this.assertInside();
    return value;
  }

  override skipBoolean(): void {
    super.skipBoolean();
    this.assertInside();
  }

  override skipInt(): void {
    this.skipLong();
  }

  override skipLong(): void {
    super.skipLong();
    this.assertProgress();
  }

  override skipFloat(): void {
    super.skipFloat();
    this.assertInside();
  }

  override skipDouble(): void {
    super.skipDouble();
    this.assertInside();
  }

  override skipFixed(length: number): void {
    super.skipFixed(length);
    this.assertInside();
  }

  override skipBytes(): void {
    super.skipBytes();
    this.assertInside();
  }

  override skipString(): void {
    super.skipString();
    this.assertInside();
  }

  /** A skipped block states its own size; a corrupt, negative one would send the reader back, and loop forever. */
  private assertProgress(): void {
    if (this.pos <= this.furthest) throw new Error('a block size points backwards');
    this.furthest = this.pos;
    this.assertInside();
  }

  private assertInside(): void {
    if (!(this.pos >= 0 && this.pos <= this.buf.length)) throw new Error('the record is cut short');
  }
}
