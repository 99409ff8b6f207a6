import { type KafkaUser, noAnswer, registryAddress, registryAgent, sendToRegistry, topics } from '@waypost/contracts';
import { CLOCKS_AGREE_WITHIN_MS } from '@waypost/domain';
import type { RegistryConfig } from '@waypost/platform/without-nest';
import { type Finding, ok, problem, warning } from './finding.js';

const TIMEOUT_MS = 5_000;
const ABOUT = 'registry';

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly date: string | undefined;
}

/**
 * Asks as the applications ask, and registers nothing.
 * @param user whose login it is; absent: that of all applications
 */
export async function examineRegistry(
  registry: RegistryConfig,
  now: () => number,
  user?: KafkaUser,
): Promise<Finding[]> {
  try {
    const subjects = await ask(registry, { method: 'GET', path: '/subjects' });
    if (subjects.status === 401 || subjects.status === 403)
      return [
        problem(
          ABOUT,
          `it responds with ${String(subjects.status)}`,
          'Add the user and password to SCHEMA_REGISTRY_URL.',
        ),
      ];
    if (subjects.status !== 200 || !Array.isArray(subjects.body))
      return [
        problem(
          ABOUT,
          `GET /subjects responds with ${String(subjects.status)}`,
          'SCHEMA_REGISTRY_URL must be the base of a Confluent-compatible API.',
        ),
      ];
    const mode = await ask(registry, { method: 'GET', path: '/mode' });
    return [
      ok(ABOUT, `it responds, with ${String(subjects.body.length)} subjects`),
      ...checkMode(mode),
      ...(user === undefined || user === 'set-up' ? await checkRegistration(registry) : []),
      ...checkSkew(subjects.date, now()),
    ];
  } catch (error) {
    return [problem(ABOUT, 'it does not respond', noAnswer('There is no response', error).message)];
  }
}

function checkMode({ body }: Answer): Finding[] {
  const mode = typeof body === 'object' && body !== null && 'mode' in body ? body.mode : undefined;
  if (typeof mode !== 'string') return [];
  if (mode === 'READWRITE') return [ok(ABOUT, 'schemas can be registered')];
  return [problem(ABOUT, `its mode is ${mode}`, 'Set it to READWRITE (PUT /mode): set-up registers schemas.')];
}

/** A registry looks at the login first, and then refuses a schema that is none. */
async function checkRegistration(registry: RegistryConfig): Promise<Finding[]> {
  const path = `/subjects/${encodeURIComponent(topics.telemetryPings.subject)}/versions`;
  const { status } = await ask(registry, { method: 'POST', path, body: JSON.stringify({ schema: '' }) });
  if (status !== 401 && status !== 403) return [];
  const fix = 'Allow the login of SCHEMA_REGISTRY_URL to register schemas: set-up needs it.';
  return [problem(ABOUT, `this login may read schemas but not register them: it responds with ${String(status)}`, fix)];
}

function checkSkew(date: string | undefined, at: number): Finding[] {
  const skewMs = date === undefined ? NaN : Date.parse(date) - at;
  if (Number.isNaN(skewMs) || Math.abs(skewMs) <= CLOCKS_AGREE_WITHIN_MS) return [];
  return [
    warning(ABOUT, `its clock differs by ${String(Math.round(skewMs / 1_000))} s`, 'Synchronize the clocks (NTP).'),
  ];
}

interface Question {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

async function ask({ url, ca }: RegistryConfig, { path, ...question }: Question): Promise<Answer> {
  const { host, username, password } = registryAddress(url);
  const login = Buffer.from(`${username}:${password}`).toString('base64');
  const headers: Record<string, string> = {
    'content-type': 'application/vnd.schemaregistry.v1+json',
    ...(username === '' ? {} : { authorization: `Basic ${login}` }),
  };
  const request = { ...question, url: host + path, headers };
  const { status, text, headers: answered } = await sendToRegistry(request, registryAgent(host, ca), TIMEOUT_MS);
  return { status, body: jsonOf(text), date: answered.date };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
