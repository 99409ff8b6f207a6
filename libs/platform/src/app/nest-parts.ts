import type { AddressInfo } from 'node:net';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { portError } from '../admin/port-error.js';
import type { Lifecycle, LifecyclePart } from '../lifecycle/lifecycle.js';
import { createNestLogger } from '../logging/nest-logger.js';
import type { AppConfig, AppDefinition, AppRuntime, HttpSettings } from './app-definition.js';

interface NestPartsDeps<C extends AppConfig> {
  readonly definition: AppDefinition<C>;
  readonly runtime: AppRuntime<C>;
  readonly lifecycle: Lifecycle;
}

/**
 * Nest as one part of ours. Its stop closes HTTP first and then the providers (the database goes in
 * onApplicationShutdown), so it stands before the application's parts and is stopped after them. Nest's own shutdown
 * hooks stay off: signals are handled in one place.
 */
export function createNestParts<C extends AppConfig>(deps: NestPartsDeps<C>): LifecyclePart[] {
  const { definition, runtime, lifecycle } = deps;
  let nest: INestApplicationContext | undefined;

  async function start(): Promise<void> {
    const options = { logger: createNestLogger(runtime.logger), abortOnError: false } as const;
    const root = definition.module(runtime);
    if (definition.http === undefined) {
      nest = await NestFactory.createApplicationContext(root, options);
      lifecycle.add(definition.parts?.(nest, runtime) ?? []);
      return;
    }
    const app = await NestFactory.create<NestExpressApplication>(root, options);
    nest = app;
    const http = definition.http(runtime);
    await http.configure?.(app);
    await app.init();
    lifecycle.add([...(definition.parts?.(app, runtime) ?? []), httpPart(app, http, runtime)]);
  }

  return [{ name: 'nest', start, stop: async () => nest?.close() }];
}

/** Listens last, when everything that a request may need is there; `nest` closes it. */
function httpPart<C extends AppConfig>(
  app: NestExpressApplication,
  { port, host = '0.0.0.0' }: HttpSettings,
  { logger }: AppRuntime<C>,
): LifecyclePart {
  return {
    name: 'http',
    start: async () => {
      try {
        await app.listen(port, host);
      } catch (error) {
        throw portError(error, { host, port, variable: 'WAYPOST_PORT' });
      }
      const address = app.getHttpServer().address() as AddressInfo;
      logger.info('http_listening', { port: address.port, host });
    },
    stop: () => undefined,
  };
}
