/** The part of the Avro specification that the files under schemas/ use. */
export type AvroPrimitive = 'null' | 'boolean' | 'int' | 'long' | 'float' | 'double' | 'bytes' | 'string';

export interface AvroRecord {
  readonly type: 'record';
  readonly name: string;
  readonly namespace?: string;
  readonly doc?: string;
  readonly fields: readonly AvroField[];
}

export interface AvroField {
  readonly name: string;
  readonly type: AvroType;
  readonly doc?: string;
  readonly default?: unknown;
}

export interface AvroLogical {
  readonly type: AvroPrimitive;
  readonly logicalType?: string;
}

export interface AvroArray {
  readonly type: 'array';
  readonly items: AvroType;
}

export interface AvroMap {
  readonly type: 'map';
  readonly values: AvroType;
}

export type AvroType = AvroPrimitive | AvroLogical | AvroRecord | AvroArray | AvroMap | readonly AvroType[];
