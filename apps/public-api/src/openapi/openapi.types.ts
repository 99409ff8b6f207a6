/** The part of OpenAPI 3.1 that this document uses. Schemas are JSON Schema 2020-12. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: object;
  readonly servers: readonly object[];
  readonly tags: readonly object[];
  readonly security: readonly object[];
  readonly paths: Readonly<Record<string, PathItem>>;
  /** Requests that the service sends. */
  readonly webhooks: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly securitySchemes: object;
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
  };
}

export type Schema = Readonly<Record<string, unknown>>;

/** The values of a string that are known today. An `enum` says that there will never be others, and clients believe it. */
export const EXTENSIBLE_ENUM = 'x-extensible-enum';

export type DocumentedMethod = 'get' | 'put' | 'post' | 'delete' | 'patch';

/** An alias, not an interface, so that Object.values and Object.entries are typed. */
export type PathItem = { readonly [method in DocumentedMethod]?: Operation };

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  /** What a portal session may do with it. */
  readonly 'x-portal-session'?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly style?: string;
  readonly explode?: boolean;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface MediaType {
  readonly schema: Schema;
  /** The schema of the `data` of one server-sent event: OpenAPI 3.1 has no word for it. */
  readonly 'x-event-data'?: Schema;
}

export interface Reference {
  readonly $ref: string;
}
