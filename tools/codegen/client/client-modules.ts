import { join } from 'node:path';
import { formatted } from '../formatted.js';
import type { GeneratedFolder } from '../generated-modules.js';
import { openApiDocument } from '../openapi.js';
import { apiTypesModule } from './api-types.js';
import { goEventModels } from './event-models-go.js';
import { pythonEventModels } from './event-models-python.js';
import { webhookTypesModule } from './webhook-types.js';

/** The generated folders of the packages for integrators. */
export async function clientModules(packagesDir: string): Promise<GeneratedFolder[]> {
  const dir = join(packagesDir, 'client', 'src', 'generated');
  const modules = new Map([
    ['api.ts', apiTypesModule(openApiDocument())],
    ['webhooks.ts', webhookTypesModule()],
  ]);
  const files = new Map<string, string>();
  for (const [name, source] of modules) files.set(name, await formatted(join(dir, name), source));
  return [{ dir, files }];
}

/** The generated files of the packages for other languages: absolute path to text. */
export function eventModelFiles(packagesDir: string): Map<string, string> {
  return new Map([
    [join(packagesDir, 'verify-python', 'src', 'waypost_webhooks', 'events.py'), pythonEventModels()],
    [join(packagesDir, 'verify-go', 'events.go'), goEventModels()],
  ]);
}
