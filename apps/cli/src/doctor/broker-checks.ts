import { type Finding, ok, problem, warning } from './finding.js';

/** What a cluster tells of itself. */
export interface ClusterFacts {
  /** Settings of each broker that is up, its defaults included; null: this login may not read them. */
  readonly brokers: ReadonlyMap<number, ReadonlyMap<string, string> | null>;
  /** Brokers that have replicas, and are not up. */
  readonly away: readonly number[];
  /** Whether any replica is visible; if not, a broker that is down is unknown. */
  readonly knowsAway: boolean;
  /** Topics that Kafka has made for itself. */
  readonly internalTopics: readonly string[];
}

export interface ClusterWishes {
  /** null: unknown to this login. */
  readonly replicationFactor: number | null;
  /** The largest record of a topic of ours. */
  readonly maxMessageBytes: number;
}

type Version = readonly [major: number, minor: number];

/** Brokers have this setting where they are older than 4.0. */
const VERSION = 'inter.broker.protocol.version';
/** LeaveGroup 3, by which a static member leaves. */
const MIN_VERSION: Version = [2, 4];
/** From here on, no more replicas have to be in sync than there are, whatever the setting says. */
const BOUNDS_MIN_ISR: Version = [3, 7];
/** The session timeout of the members of our groups. */
const SESSION_TIMEOUT_MS = 7_000;
const TRANSACTION_TIMEOUT_MS = 60_000;
const WEEK_MINUTES = 7 * 24 * 60;
const MIN_ISR = 'transaction.state.log.min.isr';
const ABOUT = 'kafka';

/** What must be true of brokers before topics are created, by their own settings. */
export function checkCluster(facts: ClusterFacts, wishes: ClusterWishes): Finding[] {
  return [
    ...checkAway(facts),
    ...checkReplication(facts, wishes),
    ...valuesOf(facts, VERSION).flatMap(checkVersion),
    ...INTERNAL_LOGS.flatMap((log) => valuesOf(facts, log.setting).flatMap((value) => checkLog(facts, log, value))),
    ...valuesOf(facts, MIN_ISR).flatMap((value) => checkTransactionLog(facts, value)),
    ...rulesOf(wishes).flatMap((rule) => valuesOf(facts, rule.setting).map((value) => checkRule(rule, value))),
  ];
}

/** A value that brokers have for a setting. */
interface BrokerSetting {
  readonly value: string;
  /** `setting=value`, with the brokers if others have another value. */
  readonly what: string;
  readonly ofBroker: ReadonlyMap<string, string>;
}

/** The values of a setting; one, unless the brokers differ. */
function valuesOf({ brokers }: ClusterFacts, setting: string): BrokerSetting[] {
  const found = new Map<string, { readonly ids: number[]; readonly ofBroker: ReadonlyMap<string, string> }>();
  for (const [id, ofBroker] of brokers) {
    const value = ofBroker?.get(setting);
    if (ofBroker === null || value === undefined) continue;
    const same = found.get(value);
    if (same === undefined) found.set(value, { ids: [id], ofBroker });
    else same.ids.push(id);
  }
  return [...found].map(([value, { ids, ofBroker }]) => {
    const where = found.size > 1 ? ` on ${namesOf(ids)}` : '';
    return { value, what: `${setting}=${value}${where}`, ofBroker };
  });
}

function namesOf(ids: readonly number[]): string {
  return `broker${ids.length > 1 ? 's' : ''} ${ids.join(', ')}`;
}

function counted({ brokers, away }: ClusterFacts): string {
  const all = String(brokers.size + away.length);
  return away.length === 0 ? `${all} brokers` : `${String(brokers.size)} of ${all} brokers`;
}

function checkAway({ away }: ClusterFacts): Finding[] {
  if (away.length === 0) return [];
  const fix = `Start ${namesOf(away)} again before you run set-up. Do not change the replication factor because of it.`;
  return [warning(ABOUT, `down: ${namesOf(away)}`, fix)];
}

function checkReplication(facts: ClusterFacts, { replicationFactor }: ClusterWishes): Finding[] {
  if (replicationFactor === null) return [ok(ABOUT, counted(facts))];
  const all = facts.brokers.size + facts.away.length;
  const what = `${counted(facts)}, WAYPOST_REPLICATION_FACTOR is ${String(replicationFactor)}`;
  if (replicationFactor > all)
    return [
      problem(ABOUT, what, orStart(facts, `set WAYPOST_REPLICATION_FACTOR to at most ${String(all)}, or add brokers.`)),
    ];
  if (replicationFactor < 3)
    return [warning(ABOUT, what, 'With 3, losing one broker loses no record. Set it before the first set-up.')];
  return [ok(ABOUT, what)];
}

/** What a small cluster would need must not be advised for one of which a broker is down. */
function orStart({ knowsAway }: ClusterFacts, fix: string): string {
  return knowsAway
    ? `${fix.charAt(0).toUpperCase()}${fix.slice(1)}`
    : `If a broker is down, start it first; otherwise ${fix}`;
}

function checkVersion({ what, value, ofBroker }: BrokerSetting): Finding[] {
  if (!/^\d+\.\d+/.test(value)) return [];
  if (!isOlder(ofBroker, MIN_VERSION)) return [ok(ABOUT, what)];
  const fix = `Upgrade the brokers to ${MIN_VERSION.join('.')} or later: static members cannot leave their groups on older ones.`;
  return [problem(ABOUT, what, fix)];
}

function isOlder(settings: ReadonlyMap<string, string>, [leastMajor, leastMinor]: Version): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(settings.get(VERSION) ?? '') ?? [];
  if (major === undefined) return false;
  return Number(major) < leastMajor || (Number(major) === leastMajor && Number(minor) < leastMinor);
}

interface InternalLog {
  readonly setting: string;
  readonly topic: string;
  readonly without: string;
}

/** Brokers make them at the first transaction and the first group, and fail then if too few are up. Later they only are there. */
const INTERNAL_LOGS: readonly InternalLog[] = [
  {
    setting: 'transaction.state.log.replication.factor',
    topic: '__transaction_state',
    without: 'no transaction can begin',
  },
  { setting: 'offsets.topic.replication.factor', topic: '__consumer_offsets', without: 'no group can be joined' },
];

/** Where Kafka keeps what groups and transactions need. */
export const INTERNAL_TOPICS: readonly string[] = INTERNAL_LOGS.map(({ topic }) => topic);

function checkLog(facts: ClusterFacts, { topic, without }: InternalLog, { what, value }: BrokerSetting): Finding[] {
  const up = facts.brokers.size;
  const all = up + facts.away.length;
  if (Number(value) <= up || facts.internalTopics.includes(topic)) return [ok(ABOUT, what)];
  const fix =
    Number(value) <= all
      ? `Start ${namesOf(facts.away)} again: until then ${without}, because ${topic} does not exist yet.`
      : orStart(facts, `set it to ${String(all)} in server.properties of each broker: ${without}.`);
  return [problem(ABOUT, `${what} with ${counted(facts)}`, fix)];
}

function checkTransactionLog(facts: ClusterFacts, { what: setting, value, ofBroker }: BrokerSetting): Finding[] {
  const up = facts.brokers.size;
  const all = up + facts.away.length;
  if (Number(value) <= up) return [];
  const what = `${setting} with ${counted(facts)}`;
  if (Number(value) <= all)
    return [problem(ABOUT, what, `Start ${namesOf(facts.away)} again: until then no transaction can be committed.`)];
  const change = orStart(facts, `set it to ${String(all)} in server.properties of each broker`);
  if (isOlder(ofBroker, BOUNDS_MIN_ISR)) return [problem(ABOUT, what, `${change}: no transaction can be committed.`)];
  return [warning(ABOUT, what, `${change}: brokers before ${BOUNDS_MIN_ISR.join('.')} then commit no transaction.`)];
}

interface Rule {
  readonly setting: string;
  readonly holds: (value: string) => boolean;
  readonly level: 'problem' | 'warning';
  readonly fix: string;
}

function rulesOf({ maxMessageBytes }: ClusterWishes): Rule[] {
  const atLeast = (limit: number) => (value: string) => Number(value) >= limit;
  const change = 'in server.properties of each broker';
  return [
    {
      setting: 'log.cleaner.enable',
      holds: (value) => value === 'true',
      level: 'problem',
      fix: `Set it to true ${change}: compacted topics would grow without end.`,
    },
    {
      setting: 'socket.request.max.bytes',
      holds: atLeast(maxMessageBytes),
      level: 'problem',
      fix: `Set it to ${String(maxMessageBytes)} or more ${change}: records of our topics can be that large.`,
    },
    {
      setting: 'transaction.max.timeout.ms',
      holds: atLeast(TRANSACTION_TIMEOUT_MS),
      level: 'problem',
      fix: `Set it to ${String(TRANSACTION_TIMEOUT_MS)} or more ${change}: producers would be rejected.`,
    },
    {
      setting: 'group.min.session.timeout.ms',
      holds: (value) => Number(value) <= SESSION_TIMEOUT_MS,
      level: 'problem',
      fix: `Set it to ${String(SESSION_TIMEOUT_MS)} or less ${change}: the groups could not be joined.`,
    },
    {
      setting: 'group.max.session.timeout.ms',
      holds: atLeast(SESSION_TIMEOUT_MS),
      level: 'problem',
      fix: `Set it to ${String(SESSION_TIMEOUT_MS)} or more ${change}: the groups could not be joined.`,
    },
    {
      setting: 'offsets.retention.minutes',
      holds: atLeast(WEEK_MINUTES),
      level: 'warning',
      fix: `Set it to ${String(WEEK_MINUTES)} or more ${change}: an application that is stopped for longer loses its position.`,
    },
    {
      setting: 'unclean.leader.election.enable',
      holds: (value) => value === 'false',
      level: 'warning',
      fix: `Set it to false ${change}: acknowledged records could be lost.`,
    },
  ];
}

function checkRule({ holds, level, fix }: Rule, { what, value }: BrokerSetting): Finding {
  return holds(value) ? ok(ABOUT, what) : { level, about: ABOUT, what, fix };
}
