/** A cursor over a buffer in Kafka's primitive types. Offsets fit a double: 2^53 records outlast any partition. */
export class ByteReader {
  position = 0;

  constructor(readonly buffer: Buffer) {}

  get remaining(): number {
    return this.buffer.length - this.position;
  }

  int16(): number {
    const value = this.buffer.readInt16BE(this.position);
    this.position += 2;
    return value;
  }

  int32(): number {
    const value = this.buffer.readInt32BE(this.position);
    this.position += 4;
    return value;
  }

  int64(): number {
    const value = readInt64(this.buffer, this.position);
    this.position += 8;
    return value;
  }

  string(): string | null {
    const length = this.int16();
    if (length < 0) return null;
    const value = this.buffer.toString('utf8', this.position, this.position + length);
    this.position += length;
    return value;
  }

  bytes(): Buffer | null {
    const length = this.int32();
    if (length < 0) return null;
    const value = this.buffer.subarray(this.position, this.position + length);
    this.position += length;
    return value;
  }

  array<T>(item: (reader: ByteReader) => T): T[] {
    const length = this.int32();
    const items: T[] = [];
    for (let i = 0; i < length; i++) items.push(item(this));
    return items;
  }

  /** What a response has of partitions, which it groups by topic. */
  partitions<T>(item: (topic: string) => T): T[] {
    const topics = this.array(() => {
      const topic = this.string() ?? '';
      return this.array(() => item(topic));
    });
    return topics.flat();
  }

  /** As lengths outside of records have it. */
  unsignedVarint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.buffer.readUInt8(this.position++);
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  /** Zigzag varint of up to 32 bits. */
  varint(): number {
    let value = 0;
    let shift = 0;
    for (;;) {
      const byte = this.buffer[this.position++];
      if (byte === undefined) throw new RangeError('varint runs past the end');
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
      shift += 7;
    }
    return (value >>> 1) ^ -(value & 1);
  }

  /** Zigzag varint of up to 53 bits: timestamp deltas may exceed 32. */
  varlong(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.buffer[this.position++];
      if (byte === undefined) throw new RangeError('varint runs past the end');
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
      scale *= 128;
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

export function varintSize(value: number): number {
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  let size = 1;
  while (rest >= 0x80) {
    rest >>>= 7;
    size++;
  }
  return size;
}

export function writeVarint(buffer: Buffer, position: number, value: number): number {
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  let at = position;
  while (rest >= 0x80) {
    buffer[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  buffer[at++] = rest;
  return at;
}

export function varlongSize(value: number): number {
  let size = 1;
  for (let rest = zigzag(value); rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
  return size;
}

export function writeVarlong(buffer: Buffer, position: number, value: number): number {
  let rest = zigzag(value);
  let at = position;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) buffer[at++] = (rest % 0x80) | 0x80;
  buffer[at++] = rest;
  return at;
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

export function readInt64(buffer: Buffer, position: number): number {
  return buffer.readInt32BE(position) * 4_294_967_296 + buffer.readUInt32BE(position + 4);
}

export function writeInt64(buffer: Buffer, value: number, position: number): void {
  buffer.writeInt32BE(Math.floor(value / 4_294_967_296), position);
  buffer.writeUInt32BE(((value % 4_294_967_296) + 4_294_967_296) % 4_294_967_296, position + 4);
}

export function int16(value: number): Buffer {
  const buffer = Buffer.alloc(2);
  buffer.writeInt16BE(value);
  return buffer;
}

export function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}

export function string(value: string | null): Buffer {
  if (value === null) return int16(-1);
  const bytes = Buffer.from(value);
  return Buffer.concat([int16(bytes.length), bytes]);
}

/** For a caller that decides by the code: see kafka-errors.ts. */
export function brokerError(code: number): Error {
  return Object.assign(new Error(`The broker returned error code ${String(code)}.`), { code });
}

/** As kafkajs takes the partitions of a request. */
export function partitionsByTopic<T extends { readonly topic: string }, P>(
  items: Iterable<T>,
  toPartition: (item: T) => P,
): { topic: string; partitions: P[] }[] {
  return [...byTopic(items)].map(([topic, list]) => ({ topic, partitions: list.map(toPartition) }));
}

export function byTopic<T extends { readonly topic: string }>(items: Iterable<T>): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(item.topic);
    if (group) group.push(item);
    else groups.set(item.topic, [item]);
  }
  return groups;
}
