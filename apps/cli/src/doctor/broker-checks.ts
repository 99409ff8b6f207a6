import { type Finding, ok, problem, warning } from './finding.js';

/** What a cluster tells of itself. */
export interface ClusterFacts {
  readonly brokers: number;
  /** Settings of the broker that was asked, its defaults included. */
  readonly settings: ReadonlyMap<string, string>;
}

export interface ClusterWishes {
  readonly replicationFactor: number;
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
const ABOUT = 'kafka';

/** What must be true of brokers before topics are created, by their own settings. */
export function checkCluster(facts: ClusterFacts, wishes: ClusterWishes): Finding[] {
  return [
    ...checkVersion(facts),
    ...checkReplication(facts, wishes),
    ...checkTransactions(facts),
    ...checkTransactionLog(facts),
    ...checkLimits(facts, wishes),
  ];
}

function checkReplication({ brokers }: ClusterFacts, { replicationFactor }: ClusterWishes): Finding[] {
  const what = `${String(brokers)} brokers, WAYPOST_REPLICATION_FACTOR is ${String(replicationFactor)}`;
  if (replicationFactor > brokers)
    return [problem(ABOUT, what, `Set WAYPOST_REPLICATION_FACTOR to at most ${String(brokers)}, or add brokers.`)];
  if (replicationFactor < 3)
    return [warning(ABOUT, what, 'With 3, no single broker can lose a record. Set it before the first set-up.')];
  return [ok(ABOUT, what)];
}

function checkVersion({ settings }: ClusterFacts): Finding[] {
  const version = settings.get(VERSION);
  if (version === undefined || !/^\d+\.\d+/.test(version)) return [];
  const what = `${VERSION}=${version}`;
  if (!isOlder(settings, MIN_VERSION)) return [ok(ABOUT, what)];
  const fix = `Upgrade the brokers to ${MIN_VERSION.join('.')} or later: static members cannot leave their groups on older ones.`;
  return [problem(ABOUT, what, fix)];
}

function isOlder(settings: ReadonlyMap<string, string>, [leastMajor, leastMinor]: Version): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(settings.get(VERSION) ?? '') ?? [];
  if (major === undefined) return false;
  return Number(major) < leastMajor || (Number(major) === leastMajor && Number(minor) < leastMinor);
}

/** The log of transactions is created at the first one, and fails then if there are too few brokers for it. */
function checkTransactions({ brokers, settings }: ClusterFacts): Finding[] {
  return ['transaction.state.log.replication.factor', 'offsets.topic.replication.factor'].flatMap((name) => {
    const value = settings.get(name);
    if (value === undefined) return [];
    if (Number(value) <= brokers) return [ok(ABOUT, `${name}=${value}`)];
    const fix = `Set it to ${String(brokers)} in server.properties of each broker: no transaction can begin.`;
    return [problem(ABOUT, `${name}=${value} with ${String(brokers)} brokers`, fix)];
  });
}

function checkTransactionLog({ brokers, settings }: ClusterFacts): Finding[] {
  const name = 'transaction.state.log.min.isr';
  const value = settings.get(name);
  if (value === undefined || Number(value) <= brokers) return [];
  const what = `${name}=${value} with ${String(brokers)} brokers`;
  const change = `Set it to ${String(brokers)} in server.properties of each broker`;
  if (isOlder(settings, BOUNDS_MIN_ISR)) return [problem(ABOUT, what, `${change}: no transaction can be committed.`)];
  return [warning(ABOUT, what, `${change}: brokers before ${BOUNDS_MIN_ISR.join('.')} commit no transaction then.`)];
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
      fix: `Set it to ${String(maxMessageBytes)} or more ${change}: records of our topics may be as large.`,
    },
    {
      setting: 'transaction.max.timeout.ms',
      holds: atLeast(TRANSACTION_TIMEOUT_MS),
      level: 'problem',
      fix: `Set it to ${String(TRANSACTION_TIMEOUT_MS)} or more ${change}: producers would be refused.`,
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

function checkLimits({ settings }: ClusterFacts, wishes: ClusterWishes): Finding[] {
  return rulesOf(wishes).flatMap(({ setting, holds, level, fix }) => {
    const value = settings.get(setting);
    if (value === undefined) return [];
    const what = `${setting}=${value}`;
    return [holds(value) ? ok(ABOUT, what) : { level, about: ABOUT, what, fix }];
  });
}
