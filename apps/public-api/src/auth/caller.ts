import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

/** Who calls: one API key, and with it one fleet. */
export interface Caller {
  readonly keyId: string;
  readonly fleetId: string;
  readonly scopes: readonly string[];
}

const callers = new WeakMap<Request, Caller>();

export function setCaller(request: Request, caller: Caller): void {
  callers.set(request, caller);
}

export function callerOf(request: Request): Caller {
  const caller = callers.get(request);
  if (caller === undefined) throw new Error('This route is not behind the API key guard: add @UseGuards(ApiKeyGuard)');
  return caller;
}

/** The caller that the API key guard let in. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller =>
  callerOf(context.switchToHttp().getRequest<Request>()),
);
