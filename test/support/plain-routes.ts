import geographiclib from 'geographiclib-geodesic';

// CommonJS: outside Jest only the whole module can be imported.
const { Geodesic } = geographiclib;

/**
 * The rules of routes and stops a second time: over the whole track of a device at once, with everything looked up
 * in the track instead of remembered, and with distances by another library. It shares no code with the product.
 */

/** A ping that the rules take, of one device, in the order of time. */
export interface TrackPing {
  readonly time: number;
  /** undefined: the fix is not valid. */
  readonly fix: { readonly latitude: number; readonly longitude: number } | undefined;
  readonly speed: number | undefined;
  readonly ignition: boolean | undefined;
}

export interface PlainTripEvent {
  /** Time of the ping that made it. */
  readonly madeBy: number;
  readonly eventType: 'route_started' | 'route_finished' | 'stop_started' | 'stop_finished';
  readonly eventTime: number;
  readonly startTime: number;
  readonly place: Place;
  /** Of the fix that was there. */
  readonly placeTime: number;
  readonly figures?: {
    readonly from: Place;
    readonly meters: number;
    readonly maxSpeed: number | undefined;
    readonly idleMs: number | undefined;
    readonly endReason: string;
  };
}

interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

/** A ping with what the track says about the time before it. */
interface Seen {
  readonly index: number;
  readonly time: number;
  readonly place: Place | undefined;
  readonly speed: number | undefined;
  readonly ignition: boolean | undefined;
  readonly turnedOff: boolean;
  /** Of the fix before. */
  readonly fixBefore: number;
}

type Fix = Seen & { readonly place: Place };

export function plainRoutes(track: readonly TrackPing[]): PlainTripEvent[] {
  const pings = look(track);
  const fixes = pings.filter(hasPlace);
  const events: PlainTripEvent[] = [];
  const first = fixes[0];
  if (first === undefined) return events;
  let stop: { place: Place; since: number | undefined; from: number } = { ...first, since: undefined, from: 0 };
  for (;;) {
    const departure = findDeparture(fixes, stop.place, stop.from);
    if (departure === undefined) return events;
    const [start, confirmed] = departure;
    const at = { madeBy: confirmed.time, eventTime: start.time, place: start.place, placeTime: start.time };
    if (stop.since !== undefined) events.push({ ...at, eventType: 'stop_finished', startTime: stop.since });
    events.push({ ...at, eventType: 'route_started', startTime: start.time });
    const end = findEnd(pings, start, confirmed);
    if (end === undefined) return events;
    const { time: eventTime, place, placeTime } = end;
    const ended = { madeBy: end.decider.time, eventTime, place, placeTime };
    const figures = { ...end.figures, from: start.place };
    events.push({ ...ended, eventType: 'route_finished', startTime: start.time, figures });
    events.push({ ...ended, eventType: 'stop_started', startTime: end.time });
    stop = { place: end.place, since: end.time, from: end.decider.index };
  }
}

function look(track: readonly TrackPing[]): Seen[] {
  let ignition: boolean | undefined;
  let fixBefore = -Infinity;
  return track.map(({ time, fix, speed, ignition: reported }, index) => {
    const before = ignition;
    ignition = reported ?? before;
    const turnedOff = ignition === false && before !== false;
    const sensible = speed !== undefined && speed >= 0 && speed <= 250 ? speed : undefined;
    const seen = { index, time, place: fix, speed: sensible, ignition, turnedOff, fixBefore };
    if (fix !== undefined) fixBefore = time;
    return seen;
  });
}

function hasPlace(ping: Seen): ping is Fix {
  return ping.place !== undefined;
}

/** The first two fixes in a row that both move, less than an hour apart. */
function findDeparture(fixes: readonly Fix[], stopPoint: Place, from: number): [Fix, Fix] | undefined {
  const moves = ({ speed = 0, place }: Fix): boolean => speed >= 5 || meters(stopPoint, place) >= 200;
  for (let i = 1; i < fixes.length; i++) {
    const [one, two] = [fixes[i - 1], fixes[i]];
    if (one === undefined || two === undefined || one.index < from) continue;
    if (two.time - one.time < 3_600_000 && moves(one) && moves(two)) return [one, two];
  }
  return undefined;
}

interface End {
  readonly decider: Seen;
  readonly time: number;
  readonly place: Place;
  readonly placeTime: number;
  readonly figures: Omit<NonNullable<PlainTripEvent['figures']>, 'from'>;
}

function findEnd(pings: readonly Seen[], start: Fix, confirmed: Fix): End | undefined {
  const parts: Part[] = [];
  const end = (seenBy: Seen, time: number, endReason: string): End => {
    const way = parts.filter(({ from }) => from.time <= time);
    // No event shows the route before it is confirmed.
    const decider = seenBy.index < confirmed.index ? confirmed : seenBy;
    return { decider, time, ...figuresOf(start, way, time, endReason) };
  };
  let off: Seen | undefined;
  for (const ping of pings.slice(start.index + 1)) {
    if (off !== undefined) {
      if (ping.time >= off.time + 30_000) return end(ping, off.time, 'ignition_off');
      if (ping.ignition !== false) off = undefined;
    }
    if (ping.time >= ping.fixBefore + 3_600_000) return end(ping, ping.fixBefore, 'no_data');
    if (hasPlace(ping)) {
      // With the ignition off no part begins: the route may have ended with it.
      if (off === undefined) addTo(parts, ping);
      else leaveAt(parts, ping, off);
      const part = parts.at(-1);
      if (part !== undefined && goesOn(part, ping) && ping.time >= part.from.time + 300_000) {
        return end(ping, part.from.time, 'stationary');
      }
    }
    if (ping.turnedOff) off = ping;
  }
  return undefined;
}

/** A fix on the move, or several of which the vehicle stands. */
interface Part {
  readonly from: Fix;
  readonly standing: boolean;
  /** Of the fix before the one that ended it, or when the ignition had gone off before that one. */
  end: number;
  /** Whether it was ended by a fix with a speed. */
  endedAtSpeed: boolean;
}

function addTo(parts: Part[], fix: Fix): void {
  const last = parts.at(-1);
  if (last !== undefined && goesOn(last, fix)) return;
  if (last?.end === Infinity) Object.assign(last, { end: fix.fixBefore, endedAtSpeed: fix.speed !== undefined });
  const standing = fix.speed === undefined || fix.speed < 3;
  parts.push({ from: fix, standing, end: Infinity, endedAtSpeed: true });
}

function leaveAt(parts: Part[], fix: Fix, off: Seen): void {
  const last = parts.at(-1);
  if (last?.standing === true && !goesOn(last, fix)) last.end = Math.min(last.end, off.time);
}

function goesOn({ standing, end, from }: Part, fix: Fix): boolean {
  return standing && end === Infinity && staysAt(from, fix);
}

function staysAt(from: Fix, fix: Fix): boolean {
  if (fix.speed !== undefined && from.speed !== undefined) return fix.speed < 3;
  return (fix.speed ?? 0) < 3 && meters(from.place, fix.place) < 200;
}

function figuresOf(
  start: Fix,
  way: readonly Part[],
  time: number,
  endReason: string,
): Pick<End, 'place' | 'placeTime' | 'figures'> {
  const stations = [start, ...way.map(({ from }) => from)];
  const speeds = stations.flatMap(({ speed }) => (speed === undefined ? [] : [speed]));
  const stood = way.filter(({ standing, endedAtSpeed }) => standing && endedAtSpeed);
  const idle = sum(stood.map(({ from, end }) => Math.min(end, time) - from.time));
  const { place, time: placeTime } = stations.at(-1) ?? start;
  return {
    place,
    placeTime,
    figures: {
      meters: sum(stations.slice(1).map((station, i) => leg(stations[i] ?? start, station))),
      maxSpeed: speeds.length === 0 ? undefined : Math.max(...speeds),
      idleMs: speeds.length === 0 ? undefined : idle,
      endReason,
    },
  };
}

/** What would take more than 250 km/h was not driven. */
function leg(from: Fix, to: Fix): number {
  const length = meters(from.place, to.place);
  return length / ((to.time - from.time) / 3_600_000) > 250_000 ? 0 : length;
}

function meters(from: Place, to: Place): number {
  return Geodesic.WGS84.Inverse(from.latitude, from.longitude, to.latitude, to.longitude, Geodesic.DISTANCE).s12 ?? NaN;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
