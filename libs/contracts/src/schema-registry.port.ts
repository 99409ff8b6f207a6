export type SchemaLookup =
  | { readonly type: 'avro'; readonly schema: object }
  | { readonly type: 'not_avro'; readonly detail: string }
  | { readonly type: 'unknown' };

export type CompatibilityLevel = 'BACKWARD' | 'BACKWARD_TRANSITIVE' | 'FULL_TRANSITIVE' | 'NONE';

/**
 * A Confluent-compatible schema registry. Every method rejects with a retriable `ContractsError`
 * (`registry_unavailable`) when the registry cannot be asked; "unknown" and null are its own answers.
 */
export interface SchemaRegistryPort {
  schemaById(id: number): Promise<SchemaLookup>;
  /** The id of exactly this schema under the subject; null when it is not registered. */
  idOf(subject: string, schema: object): Promise<number | null>;
  /** Registers the schema, or finds it; rejects with `schema_incompatible` when the subject's rule forbids it. */
  register(subject: string, schema: object): Promise<number>;
  setCompatibility(subject: string, level: CompatibilityLevel): Promise<void>;
}
