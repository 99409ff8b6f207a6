import type { z } from 'zod';

/** A class whose instances are what its schema accepts; Nest finds the schema through a parameter's type. */
export interface DtoClass<T extends z.ZodType = z.ZodType> {
  readonly schema: T;
  new (): z.output<T>;
}

/**
 * The base of a DTO class: one schema gives its type, its validation and its description in the OpenAPI document.
 *
 *     export class UpdateFleetDto extends dto(z.strictObject({ name: plainText(128) })) {}
 */
export function dto<T extends z.ZodType<object>>(schema: T): DtoClass<T> {
  // eslint-disable-next-line @typescript-eslint/no-extraneous-class -- Nest knows a parameter's type by its class
  class Dto {
    static readonly schema = schema;
  }
  return Dto as DtoClass<T>;
}

export function isDto(type: unknown): type is DtoClass {
  return typeof type === 'function' && 'schema' in type;
}
