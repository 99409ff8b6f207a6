import { ContractsError, messageOf } from '../contracts-error.js';
import {
  createRegistryHttp,
  loginRefused,
  noAnswer,
  registryAddress,
  registryAgent,
  unavailable,
} from './registry-http.js';

export interface SchemaRegistryOptions {
  /** Base of the Confluent API, e.g. `http://127.0.0.1:8081/apis/ccompat/v7`; may hold `user:password@`. */
  readonly url: string;
  /** PEM of the certificate authorities to trust instead of the system's. */
  readonly ca?: string | undefined;
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const SCHEMA_NOT_FOUND = 40_403;
const SUBJECT_NOT_FOUND = 40_401;
const CONFLICT_STATUS = 409;

/**
 * The registry over HTTP. Lookups are our own requests: the client package waits without a deadline and cannot tell "no
 * such schema" from an outage, and mistaking one for the other would reject good pings.
 */
export function createSchemaRegistry(options: SchemaRegistryOptions): SchemaRegistryPort {
  const { url, ca, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const http = createRegistryHttp({ url, ca, timeoutMs });

  async function idOf(subject: string, schema: object): Promise<number | null> {
    const body = { schema: JSON.stringify(schema) };
    const answer = await http.request('POST', `/subjects/${encodeURIComponent(subject)}`, body);
    if (answer.type === 'ok') return idOfAnswer(subject, answer.body);
    if (answer.errorCode === SCHEMA_NOT_FOUND || answer.errorCode === SUBJECT_NOT_FOUND) return null;
    throw http.unexpected(`Subject ${subject} could not be looked up`, answer);
  }

  return {
    async schemaById(id) {
      const answer = await http.request('GET', `/schemas/ids/${String(id)}`);
      if (answer.type === 'ok') return schemaLookup(id, answer.body);
      if (answer.errorCode === SCHEMA_NOT_FOUND) return { type: 'unknown' };
      throw http.unexpected(`Schema ${String(id)} could not be read`, answer);
    },
    idOf,
    async register(subject, schema) {
      // Looked up first, since the client package mistakes an unreachable registry for one that refuses.
      const known = await idOf(subject, schema);
      if (known !== null) return known;
      try {
        return await register({ url, ca }, subject, schema);
      } catch (error) {
        if (!(error instanceof ContractsError) || error.code !== 'schema_incompatible') throw error;
        // The status is the same if another set-up has just created the subject's compatibility rule: then it is
        // registered.
        const registered = await idOf(subject, schema);
        if (registered === null) throw error;
        return registered;
      }
    },
    async setCompatibility(subject, level) {
      const set = () => http.request('PUT', `/config/${encodeURIComponent(subject)}`, { compatibility: level });
      let answer = await set();
      // Another set-up has just created the rule, perhaps with another level.
      if (answer.type === 'error' && answer.status === CONFLICT_STATUS) answer = await set();
      if (answer.type === 'error') throw http.unexpected(`The compatibility of ${subject} could not be set`, answer);
    },
  };
}

/** Registers through the client package, which is loaded only here: applications never register. */
async function register({ url, ca }: SchemaRegistryOptions, subject: string, schema: object): Promise<number> {
  const { COMPATIBILITY, SchemaRegistry, SchemaType } = await import('@kafkajs/confluent-schema-registry');
  const { host, username, password } = registryAddress(url);
  const client = new SchemaRegistry({
    host,
    agent: registryAgent(host, ca),
    ...(username === '' ? {} : { auth: { username, password } }),
  });
  try {
    const { id } = await client.register(
      { type: SchemaType.AVRO, schema: JSON.stringify(schema) },
      { subject, compatibility: COMPATIBILITY.BACKWARD_TRANSITIVE },
    );
    return id;
  } catch (error) {
    throw registrationError(host, subject, error);
  }
}

function registrationError(host: string, subject: string, error: unknown): ContractsError {
  const detail = messageOf(error);
  const status = error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : null;
  if (status === CONFLICT_STATUS) {
    return new ContractsError(
      'schema_incompatible',
      `The registry rejected the schema of ${subject}: it breaks BACKWARD_TRANSITIVE compatibility with an earlier ` +
        `version (${detail}). Give new fields a default, and do not change or rename old ones.`,
      { cause: error },
    );
  }
  if (status === 401 || status === 403) return loginRefused(host, status);
  if (status === null) return noAnswer(`The schema of ${subject} was not registered`, error);
  if (status >= 500) return unavailable(`The schema of ${subject} was not registered`, detail, error);
  return new ContractsError('registry_refused', `The registry rejected the schema of ${subject}: ${detail}`, {
    cause: error,
  });
}

function schemaLookup(id: number, body: unknown): SchemaLookup {
  const { schema, schemaType } = body as { readonly schema?: unknown; readonly schemaType?: unknown };
  if (typeof schema !== 'string') throw unavailable(`Schema ${String(id)} could not be read`, 'the response has none');
  if (typeof schemaType === 'string' && schemaType !== 'AVRO') {
    return { type: 'not_avro', detail: `the schema is ${schemaType}, not Avro` };
  }
  try {
    const parsed: unknown = JSON.parse(schema);
    if (typeof parsed === 'object' && parsed !== null) return { type: 'avro', schema: parsed };
    return { type: 'not_avro', detail: 'the schema is not a record' };
  } catch {
    return { type: 'not_avro', detail: 'the schema is not JSON' };
  }
}

function idOfAnswer(subject: string, body: unknown): number {
  const { id } = body as { readonly id?: unknown };
  if (typeof id === 'number') return id;
  throw unavailable(`Subject ${subject} could not be looked up`, 'the response has no id');
}

export type SchemaLookup =
  | { readonly type: 'avro'; readonly schema: object }
  | { readonly type: 'not_avro'; readonly detail: string }
  | { readonly type: 'unknown' };

export type CompatibilityLevel = 'BACKWARD' | 'BACKWARD_TRANSITIVE' | 'FULL_TRANSITIVE' | 'NONE';

/**
 * A Confluent-compatible schema registry. Every method rejects with a retriable `ContractsError`
 * (`registry_unavailable`) if the registry cannot be asked; "unknown" and null are its own answers.
 */
export interface SchemaRegistryPort {
  schemaById(id: number): Promise<SchemaLookup>;
  /** The id of exactly this schema under the subject; null: not registered. */
  idOf(subject: string, schema: object): Promise<number | null>;
  /** Registers the schema, or finds it; rejects with `schema_incompatible` if the subject's rule forbids it. */
  register(subject: string, schema: object): Promise<number>;
  setCompatibility(subject: string, level: CompatibilityLevel): Promise<void>;
}
