export type SqlType = 'integer' | 'bigint' | 'uuid' | 'text[]' | 'timestamptz';

/** Collects the values of one statement. They are numbered in the order in which they are added. */
export class SqlParameters {
  readonly values: unknown[] = [];

  /** Returns what stands for the value in the text of the statement, such as `$1` or `$1::uuid`. */
  add(value: unknown, type?: SqlType): string {
    const place = `$${String(this.values.push(value))}`;
    return type === undefined ? place : `${place}::${type}`;
  }

  /** The condition as the only one of a list, or an empty list if there is no value. */
  addIfGiven(value: unknown, condition: (place: string) => string, type?: SqlType): string[] {
    return value === undefined ? [] : [condition(this.add(value, type))];
  }
}
