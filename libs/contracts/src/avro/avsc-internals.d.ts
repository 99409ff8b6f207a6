/** The part of avsc's reader that strict-avro-reader.ts extends. avsc ships no types for it. */
declare module 'avsc/lib/utils.js' {
  interface Tap {
    buf: Buffer;
    pos: number;
    readBoolean(): boolean;
    readInt(): number;
    readLong(): number;
    readFloat(): number | undefined;
    readDouble(): number | undefined;
    readFixed(length: number): Buffer | undefined;
    readString(): string | undefined;
    skipBoolean(): void;
    skipInt(): void;
    skipLong(): void;
    skipFloat(): void;
    skipDouble(): void;
    skipFixed(length: number): void;
    skipBytes(): void;
    skipString(): void;
  }
  const internals: { readonly Tap: new (buf: Buffer, pos: number) => Tap };
  export default internals;
}
