import type { RegistryConfig } from '@waypost/platform';
import { type Finding, ok, problem, warning } from './finding.js';

const TIMEOUT_MS = 5_000;
const ABOUT = 'registry';
/** Records carry times of several machines: beyond this, R-2 rejects pings as from the future. */
export const SKEW_LIMIT_MS = 5_000;

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly date: string | null;
}

/** Asks as the applications ask, and registers nothing. */
export async function examineRegistry({ url, ca }: RegistryConfig, now: () => number): Promise<Finding[]> {
  if (ca !== undefined) return [ok(ABOUT, 'SCHEMA_REGISTRY_CA_FILE is set: asked by the applications only')];
  try {
    const subjects = await ask(url, '/subjects');
    if (subjects.status === 401 || subjects.status === 403)
      return [
        problem(ABOUT, `it answers ${String(subjects.status)}`, 'Put user and password into SCHEMA_REGISTRY_URL.'),
      ];
    if (subjects.status !== 200 || !Array.isArray(subjects.body))
      return [
        problem(
          ABOUT,
          `GET /subjects answers ${String(subjects.status)}`,
          'SCHEMA_REGISTRY_URL must be the base of a Confluent-compatible API.',
        ),
      ];
    const mode = await ask(url, '/mode');
    return [
      ok(ABOUT, `it answers, with ${String(subjects.body.length)} subjects`),
      ...checkMode(mode),
      ...checkSkew(subjects.date, now()),
    ];
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return [
      problem(ABOUT, `it does not answer: ${String(cause)}`, 'Check SCHEMA_REGISTRY_URL, and that the port is open.'),
    ];
  }
}

function checkMode({ body }: Answer): Finding[] {
  const mode = typeof body === 'object' && body !== null && 'mode' in body ? body.mode : undefined;
  if (typeof mode !== 'string') return [];
  if (mode === 'READWRITE') return [ok(ABOUT, 'schemas can be registered')];
  return [problem(ABOUT, `its mode is ${mode}`, 'Set it to READWRITE (PUT /mode): the set-up registers schemas.')];
}

function checkSkew(date: string | null, at: number): Finding[] {
  const skewMs = date === null ? NaN : Date.parse(date) - at;
  if (Number.isNaN(skewMs) || Math.abs(skewMs) <= SKEW_LIMIT_MS) return [];
  return [
    warning(ABOUT, `its clock differs by ${String(Math.round(skewMs / 1_000))} s`, 'Synchronize the clocks (NTP).'),
  ];
}

async function ask(base: string, path: string): Promise<Answer> {
  const url = new URL(base);
  const { username, password } = url;
  url.username = url.password = '';
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const headers: Record<string, string> = username === '' ? {} : { authorization: `Basic ${login}` };
  const address = url.href.replace(/\/$/, '') + path;
  const response = await fetch(address, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  const text = await response.text();
  return { status: response.status, body: jsonOf(text), date: response.headers.get('date') };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
