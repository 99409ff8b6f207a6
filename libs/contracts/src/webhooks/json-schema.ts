/** The part of JSON Schema (draft 2020-12) that the published schemas use. */
export interface JsonSchema {
  readonly type?: 'object' | 'string' | 'number' | 'integer' | 'boolean';
  readonly const?: string | number;
  readonly enum?: readonly (string | number)[];
  readonly format?: 'uuid' | 'date-time';
  readonly pattern?: string;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
  readonly examples?: readonly unknown[];
}

export type Properties = Readonly<Record<string, JsonSchema>>;

/** An object with exactly these properties. */
export function exactly(properties: Properties, required: readonly string[], description?: string): JsonSchema {
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    properties,
    required,
    additionalProperties: false,
  };
}
