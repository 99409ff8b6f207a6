import { readJsonFile, writeJsonFile } from '../../../dev-stack/index.js';
import { answerText, parseAnswer, type Answer } from '../answer.js';
import type { BenchContext } from '../bench-context.js';
import { publishFleetSettings } from './fleet-settings.js';
import { GEOFENCES_PER_FLEET, publishGeofences } from './geofences.js';

export interface Backlog {
  readonly pings: number;
  readonly devices: number;
}

/** What the fleets of the backlog have: a thousand geofences and routes, or nothing. */
export type FleetsAsk = 'everything' | 'nothing';

interface LoadedBacklog extends Backlog {
  readonly geofencesPerFleet: number;
  /** Absent where an earlier version has loaded it. */
  readonly routes?: boolean;
  readonly answer: Answer;
}

const FILE = 'backlog.json';

/**
 * Fills the input with the backlog, unless it is there already, and says what the rules for positions make of it. Geofences and
 * settings of the fleets come first: a ping sees those that were there before it, so fleets that ask for something
 * else need another backlog.
 */
export async function loadBacklog(
  context: BenchContext,
  { pings, devices }: Backlog,
  ask: FleetsAsk = 'everything',
): Promise<Answer> {
  const { stack, topics, reporter } = context;
  const asked = { geofencesPerFleet: ask === 'nothing' ? 0 : GEOFENCES_PER_FLEET, routes: ask !== 'nothing' };
  const loaded = (await readJsonFile(stack.file(FILE))) as LoadedBacklog | null;
  const isSame =
    loaded?.pings === pings &&
    loaded.devices === devices &&
    loaded.geofencesPerFleet === asked.geofencesPerFleet &&
    loaded.routes === asked.routes;
  if (isSame && (await topics.inputSize()) === pings) {
    reporter.note(`${String(pings)} pings are there from a former run`);
    return loaded.answer;
  }
  await topics.freshInput();
  await topics.freshFleets();
  if (ask === 'everything') {
    await publishFleetSettings(context);
    await publishGeofences(context);
  }
  const answer = await reporter.during(`Loading ${String(pings)} pings of ${String(devices)} devices`, () =>
    loadPings(context, { from: 0, pings, devices }),
  );
  reporter.note(`  From an empty state they give ${answerText(answer)}`);
  await writeJsonFile(stack.file(FILE), { pings, devices, answer, ...asked } satisfies LoadedBacklog);
  return answer;
}

export interface LoadOptions extends Backlog {
  /** Number of the first ping: ping i is the (i / devices)-th of device i % devices. */
  readonly from: number;
  /** Pings a second; undefined: as fast as it goes. */
  readonly rate?: number;
}

/** Writes pings to the input; resolves with what they give from an empty state. */
export async function loadPings(
  { programs }: BenchContext,
  { from, pings, devices, rate }: LoadOptions,
): Promise<Answer> {
  const variables = { FROM: String(from), COUNT: String(pings), DEVICES: String(devices), RATE: String(rate ?? 0) };
  return parseAnswer(await programs.run('Load', [], variables));
}
