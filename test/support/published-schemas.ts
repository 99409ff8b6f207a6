import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020Module, { type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';

// Both are CommonJS: the class and the function are one level down when imported from ESM.
const Ajv2020 = Ajv2020Module.default;
const addFormats = addFormatsModule.default;

/** What of the body of a delivery is not as its published schema says; empty when all is. */
export type BodyCheck = (body: string) => string[];

const FOLDER = join(process.cwd(), 'schemas', 'webhooks');
const LEGACY = 'legacy-v1';

/** Checks bodies as a subscriber would: by the files in `schemas/webhooks`, chosen by what the body says that it is. */
export function createBodyCheck(): BodyCheck {
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  addFormats(ajv);
  const validators = new Map<string, ValidateFunction>();
  for (const file of readdirSync(FOLDER)) {
    const schema = JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as object;
    validators.set(file.slice(0, -'.schema.json'.length), ajv.compile(schema));
  }
  return (body) => {
    const value = parsed(body);
    if (value === null) return ['no JSON object'];
    const name = 'event_id' in value ? LEGACY : String(value['eventType']);
    const validate = validators.get(name);
    if (validate === undefined) return [`there is no schema ${name}`];
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${name}${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
    );
  };
}

function parsed(body: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
