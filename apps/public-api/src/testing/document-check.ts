import Ajv2020Module, { type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import {
  type DocumentedMethod,
  EXTENSIBLE_ENUM,
  type OpenApiDocument,
  type Operation,
  type Reference,
  type ResponseObject,
  type Schema,
} from '../openapi/openapi.types.js';

// Both are CommonJS: the class and the function are one level down when imported from ESM.
const Ajv2020 = Ajv2020Module.default;
const addFormats = addFormatsModule.default;

const DOCUMENT_ID = 'openapi.json';
/** Statuses that methods without an operation can be answered with. */
const OF_ANY_METHOD = [405, 410, 429];

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Every difference between a response and the document; empty for unknown paths. */
export type DocumentCheck = (method: string, path: string, answer: Answer) => string[];

export function createDocumentCheck(document: OpenApiDocument): DocumentCheck {
  // A spec of its own holds that the document is valid: checking it here would take most of the start of each test's API.
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  addFormats(ajv);
  ajv.addSchema(asOfToday(document), DOCUMENT_ID);
  const validators = new Map<string, ValidateFunction>();

  function resolve(response: ResponseObject | Reference): ResponseObject {
    if (!('$ref' in response)) return response;
    const found = document.components.responses[response.$ref.split('/').at(-1) ?? ''];
    if (found === undefined) throw new Error(`${response.$ref} does not resolve`);
    return found;
  }

  function headerFaults(response: ResponseObject | Reference, { headers, status }: Answer): string[] {
    const names = Object.entries(resolve(response).headers ?? {})
      .filter(([, header]) => (header as { required?: boolean }).required !== false)
      .map(([name]) => name);
    return names.filter((name) => !headers.has(name)).map((name) => `${String(status)} lacks the header ${name}`);
  }

  function bodyFaults(template: string, operation: Operation | undefined, answer: Answer): string[] {
    const method = Object.entries(document.paths[template] ?? {}).find(([, known]) => known === operation)?.[0];
    const response = operation?.responses[String(answer.status)];
    if (response === undefined || method === undefined) return [];
    const content = resolve(response).content;
    if (content === undefined) return answer.body === '' ? [] : ['a body where none is documented'];
    const pointer =
      '$ref' in response
        ? response.$ref.slice(1)
        : `/paths/${escapePointer(template)}/${method}/responses/${String(answer.status)}`;
    if (!('application/json' in content)) return [];
    const validate = validatorAt(`${DOCUMENT_ID}#${pointer}/content/${escapePointer('application/json')}/schema`);
    return validate(answer.body)
      ? []
      : [ajv.errorsText(validate.errors, { dataVar: `${template} ${String(answer.status)}` })];
  }

  function validatorAt(ref: string): ValidateFunction {
    const known = validators.get(ref);
    if (known !== undefined) return known;
    const compiled = ajv.compile({ $ref: ref });
    validators.set(ref, compiled);
    return compiled;
  }

  return (method, path, answer) => {
    const template = Object.keys(document.paths).find((known) => matches(known, path));
    if (template === undefined) return [];
    const item = document.paths[template];
    const operation = item?.[method.toLowerCase() as DocumentedMethod];
    // Methods without an operation are answered with 405, as any operation could be.
    const described = operation ?? Object.values(item ?? {}).at(0);
    if (operation === undefined && !OF_ANY_METHOD.includes(answer.status) && method !== 'HEAD') {
      return [`${method} ${template} is not documented`];
    }
    const response = described?.responses[String(answer.status)];
    if (response === undefined) return [`${method} ${template} ${String(answer.status)} is not documented`];
    return [...headerFaults(response, answer), ...(method === 'HEAD' ? [] : bodyFaults(template, described, answer))];
  };
}

/** Today there are no other fields and values than the document names: one that it does not name is a fault here. */
function asOfToday(document: OpenApiDocument): OpenApiDocument {
  return JSON.parse(JSON.stringify(document), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const { [EXTENSIBLE_ENUM]: known, ...schema } = value as Schema;
    if (known !== undefined) return { ...schema, enum: known };
    const isObject = schema['type'] === 'object' && schema['properties'] !== undefined;
    return isObject ? { additionalProperties: false, ...schema } : schema;
  }) as OpenApiDocument;
}

function matches(template: string, path: string): boolean {
  const pattern = template.replaceAll(/\{[^}]+\}/g, '[^/]+').replaceAll('.', '\\.');
  return new RegExp(`^${pattern}/?$`, 'i').test(path);
}

function escapePointer(segment: string): string {
  return encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'));
}
