import { applyDecorators, HttpCode, SetMetadata } from '@nestjs/common';
import type { ApiKeyScope } from '@waypost/management-store';
import type { DtoClass } from './dto.js';

const ENDPOINT = 'waypost:endpoint';

export type Tag =
  | 'History'
  | 'Paths'
  | 'Subscriptions'
  | 'Geofences'
  | 'Fleet'
  | 'Portal'
  | 'Operators'
  | 'Description';

/** Errors that only some endpoints respond with; the others follow from the rest of the description. */
export type OwnErrorStatus = 404 | 409;

/**
 * What a portal session may do with an endpoint.
 * - `refused`: nothing.
 * - `whole_fleet`: a session that is limited to some subscriptions is refused, because the endpoint cannot be.
 * - `named_subscription`: the `:id` of the path is a subscription, which a limited session must have.
 * - `filtered`: the handler keeps to the `Visibility` of its caller.
 */
export type PortalUse = 'refused' | 'whole_fleet' | 'named_subscription' | 'filtered';

/**
 * What a handler promises beyond its signature. Its query, path parameters and body are described by the DTO classes of
 * its parameters; the guards and the OpenAPI document read the rest from here.
 */
export interface EndpointOptions {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: Tag;
  /** What the API key must be allowed to do; `any`: any caller may; `admin`: only an admin key may; null: open to anyone. */
  readonly scope: ApiKeyScope | 'any' | 'admin' | null;
  /** Absent is `refused`; a spec wants every endpoint with a scope to say so. */
  readonly portal?: PortalUse;
  readonly response: {
    readonly status: 200 | 201 | 202 | 204;
    readonly description: string;
    /** Absent: no body. */
    readonly type?: DtoClass;
    /** `text/event-stream`: the type is that of the data of one event. JSON otherwise. */
    readonly mediaType?: 'text/event-stream';
  };
  readonly errors?: readonly OwnErrorStatus[];
  /**
   * The handler returns what `setEntityTag` gives it: the response has an `ETag`, and a GET supports `If-None-Match`.
   * `for_changes`: the response shows more than the version says, so the tag is for `If-Match` alone.
   */
  readonly etag?: true | 'for_changes';
  /** The handler takes `@IfMatch()`. */
  readonly ifMatch?: boolean;
  /** The handler uses `IdempotentRequests`. */
  readonly idempotencyKey?: boolean;
  /** The handler reads `Last-Event-ID`. */
  readonly lastEventId?: boolean;
  /** Version 1. */
  readonly deprecated?: boolean;
}

/** Describes a handler; every handler of the API has one. */
export function Endpoint(options: EndpointOptions): MethodDecorator {
  return applyDecorators(SetMetadata(ENDPOINT, options), HttpCode(options.response.status));
}

/** @throws Error for a handler without a description: it would be neither guarded nor documented */
export function endpointOf(handler: object): EndpointOptions {
  const options = Reflect.getMetadata(ENDPOINT, handler) as EndpointOptions | undefined;
  if (options === undefined) throw new Error(`The handler ${String(Reflect.get(handler, 'name'))} has no @Endpoint`);
  return options;
}
