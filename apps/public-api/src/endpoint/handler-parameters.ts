import { PARAMTYPES_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { type DtoClass, isDto } from './dto.js';

export interface HandlerParameters {
  readonly query: DtoClass | null;
  readonly params: DtoClass | null;
  readonly body: DtoClass | null;
}

/**
 * The DTO classes of a handler's `@Query()`, `@Param()` and `@Body()` parameters. Nest has no public way to ask for them;
 * @nestjs/swagger reads the same metadata through the same two imports. If a version of Nest moves them, no document can
 * be made and the specs of the endpoints fail.
 */
export function handlerParameters(controller: { readonly prototype: object }, handler: string): HandlerParameters {
  const types = Reflect.getMetadata(PARAMTYPES_METADATA, controller.prototype, handler) as unknown[];
  const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, handler) ?? {}) as Record<
    string,
    { index: number }
  >;

  function typeOf(kind: RouteParamtypes): DtoClass | null {
    // Keys are `<kind>:<index>`.
    const arg = Object.entries(args).find(([key]) => key.split(':')[0] === String(kind))?.[1];
    if (arg === undefined) return null;
    const type = types[arg.index];
    if (isDto(type)) return type;
    throw new Error(`Parameter ${String(arg.index)} of ${handler} is not a DTO class: it would not be validated`);
  }

  return {
    query: typeOf(RouteParamtypes.QUERY),
    params: typeOf(RouteParamtypes.PARAM),
    body: typeOf(RouteParamtypes.BODY),
  };
}
