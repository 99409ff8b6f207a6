import { type KafkaUser, noAnswer, registryAddress, registryAgent, sendToRegistry, topics } from '@waypost/contracts';
import { CLOCKS_AGREE_WITHIN_MS } from '@waypost/domain';
import type { RegistryConfig } from '@waypost/platform/without-nest';
import { type Asked, clockSkewMs } from './clock-skew.js';
import { type Finding, ok, problem, warning } from './finding.js';
import { isSetUp } from './kafka-scope.js';

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
    const startedAt = now();
    const subjects = await ask(registry, { method: 'GET', path: '/subjects' });
    const endedAt = now();
    if (subjects.status !== 200 || !Array.isArray(subjects.body)) return [refused(registry, subjects.status)];
    return [
      ok(ABOUT, `it responds, with ${String(subjects.body.length)} subjects`),
      // Only set-up registers schemas.
      ...(isSetUp(user) ? await checkRegistration(registry) : []),
      ...checkSkew(subjects.date, { startedAt, endedAt }),
    ];
  } catch (error) {
    return [problem(ABOUT, 'it does not respond', noAnswer('There is no response', error).message)];
  }
}

function refused({ url }: RegistryConfig, status: number): Finding {
  const what = `GET /subjects responds with ${String(status)}`;
  if (status === 401 || status === 403) {
    const isNamed = registryAddress(url).username !== '';
    const fix = `${isNamed ? 'Check' : 'Add'} the user and password ${isNamed ? 'in' : 'to'} SCHEMA_REGISTRY_URL.`;
    return problem(ABOUT, what, status === 403 && isNamed ? `${fix} The user must be allowed to read subjects.` : fix);
  }
  if (status >= 500) return problem(ABOUT, what, 'The registry, or what it needs, is not up: look at its logs.');
  return problem(ABOUT, what, 'SCHEMA_REGISTRY_URL must be the base of a Confluent-compatible API.');
}

async function checkRegistration(registry: RegistryConfig): Promise<Finding[]> {
  const mode = await ask(registry, { method: 'GET', path: '/mode' });
  return [...checkMode(mode), ...(await checkLogin(registry))];
}

function checkMode({ body }: Answer): Finding[] {
  const mode = typeof body === 'object' && body !== null && 'mode' in body ? body.mode : undefined;
  if (typeof mode !== 'string') return [];
  if (mode === 'READWRITE') return [ok(ABOUT, 'schemas can be registered')];
  return [problem(ABOUT, `its mode is ${mode}`, 'Set it to READWRITE (PUT /mode): set-up registers schemas.')];
}

/** A registry looks at the login first, and then refuses a schema that is none. */
async function checkLogin(registry: RegistryConfig): Promise<Finding[]> {
  const path = `/subjects/${encodeURIComponent(topics.telemetryPings.subject)}/versions`;
  const { status } = await ask(registry, { method: 'POST', path, body: JSON.stringify({ schema: '' }) });
  if (status !== 401 && status !== 403) return [];
  const fix = 'Allow the login of SCHEMA_REGISTRY_URL to register schemas: set-up needs it.';
  return [problem(ABOUT, `this login may read schemas but not register them: it responds with ${String(status)}`, fix)];
}

function checkSkew(date: string | undefined, asked: Asked): Finding[] {
  const skewMs = date === undefined ? NaN : clockSkewMs(Date.parse(date), asked);
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
