import { readJsonFile, writeJsonFile } from '../../../tools/dev-stack/data-dir/data-dir.js';
import { type Answer, answerText, parseAnswer } from '../answer.js';
import type { BenchContext } from '../bench-context.js';
import { GEOFENCES_PER_FLEET, publishFleetSettings, publishGeofences } from './geofences.js';

export interface Backlog {
  readonly pings: number;
  readonly devices: number;
}

export interface BacklogKind {
  /** What the fleets have: a thousand geofences and routes, or nothing. */
  readonly ask: 'everything' | 'nothing';
  /** Vehicles that drive for half an hour and stand for half an hour; else they do nothing but turn the ignition on and off. */
  readonly journeys: boolean;
}

const RESTLESS: BacklogKind = { ask: 'everything', journeys: false };

interface LoadedBacklog extends Backlog {
  readonly geofencesPerFleet: number;
  /** These two are absent where an earlier version has loaded it. */
  readonly routes?: boolean;
  readonly journeys?: boolean;
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
  { ask, journeys }: BacklogKind = RESTLESS,
): Promise<Answer> {
  const { stack, topics, reporter } = context;
  const asked = { geofencesPerFleet: ask === 'nothing' ? 0 : GEOFENCES_PER_FLEET, routes: ask !== 'nothing', journeys };
  const loaded = (await readJsonFile(stack.file(FILE))) as LoadedBacklog | null;
  const isSame =
    loaded?.pings === pings &&
    loaded.devices === devices &&
    loaded.geofencesPerFleet === asked.geofencesPerFleet &&
    loaded.routes === asked.routes &&
    loaded.journeys === journeys;
  if (isSame && (await topics.inputSize()) === pings) {
    reporter.note(`${String(pings)} pings are there from an earlier run`);
    return loaded.answer;
  }
  await topics.freshInput();
  await topics.freshFleets();
  if (ask === 'everything') {
    await publishFleetSettings(context);
    await publishGeofences(context);
  }
  const answer = await reporter.during(`Loading ${String(pings)} pings of ${String(devices)} devices`, () =>
    loadPings(context, { from: 0, pings, devices, journeys }),
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
  readonly journeys?: boolean;
}

/** Writes pings to the input; resolves with what they give from an empty state. */
export async function loadPings(
  { programs }: BenchContext,
  { from, pings, devices, rate = 0, journeys = false }: LoadOptions,
): Promise<Answer> {
  const variables = {
    FROM: String(from),
    COUNT: String(pings),
    DEVICES: String(devices),
    RATE: String(rate),
    JOURNEYS: journeys ? '1' : '0',
  };
  return parseAnswer(await programs.run('Load', [], variables));
}
