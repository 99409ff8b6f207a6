/** What can go wrong, as data: a schedule can be printed, repeated and checked before anything is broken. */
export type Fault =
  /** SIGKILL; started again after `downMs`, which may be beyond the session timeout, so that others take over. */
  | { readonly kind: 'processor-kill'; readonly instance: number; readonly downMs: number }
  /** SIGSTOP, then SIGCONT: past the session timeout it wakes up as a zombie. */
  | { readonly kind: 'processor-pause'; readonly instance: number; readonly forMs: number }
  /** Stopped as a deployment does it; stays away until it joins again. */
  | { readonly kind: 'processor-leave'; readonly instance: number }
  /** Stopped as a deployment does it, and started again. */
  | { readonly kind: 'processor-restart'; readonly instance: number; readonly downMs: number }
  /** With `othersDelayMs` the owners of what it gets hear late, and go on working on what is no longer theirs. */
  | {
      readonly kind: 'processor-join';
      readonly instance: number;
      readonly others: readonly number[];
      readonly othersDelayMs: number;
      readonly forMs: number;
    }
  /** SIGSTOP; a second process takes the same instance id; then SIGCONT: two with one name. */
  | { readonly kind: 'processor-replace'; readonly instance: number; readonly forMs: number }
  | { readonly kind: 'broker-restart'; readonly broker: number; readonly downMs: number }
  | { readonly kind: 'broker-kill'; readonly broker: number; readonly downMs: number }
  /** SIGKILL to whichever broker coordinates the group, or the transactions of a partition's task, at that moment. */
  | {
      readonly kind: 'coordinator-kill';
      readonly of: 'group' | 'transactions';
      readonly partition: number;
      readonly downMs: number;
    }
  | (Disturbed & { readonly kind: 'network-delay'; readonly delayMs: number; readonly forMs: number })
  | (Disturbed & { readonly kind: 'network-throttle'; readonly bytesPerSecond: number; readonly forMs: number })
  /** Every connection is reset once. */
  | (Disturbed & { readonly kind: 'network-cut' })
  /** Nothing passes and nobody is told. */
  | (Disturbed & { readonly kind: 'network-hole'; readonly forMs: number });

/** The ways between these instances and these brokers. */
export interface Disturbed {
  readonly instances: readonly number[];
  readonly brokers: readonly number[];
}

export type FaultKind = Fault['kind'];

export interface ScheduledFault {
  /** From the start of the schedule. */
  readonly atMs: number;
  readonly fault: Fault;
}

/** Faults of one target come one after another; those of different targets may overlap. */
export function targetsOf(fault: Fault): readonly string[] {
  switch (fault.kind) {
    case 'processor-kill':
    case 'processor-pause':
    case 'processor-leave':
    case 'processor-restart':
    case 'processor-replace':
      return [`processor ${String(fault.instance)}`];
    case 'processor-join':
      return [`processor ${String(fault.instance)}`, ...fault.others.map((instance) => `network ${String(instance)}`)];
    // One broker at a time: two of three would be more than min.insync.replicas can bear.
    case 'broker-restart':
    case 'broker-kill':
    case 'coordinator-kill':
      return ['brokers'];
    case 'network-delay':
    case 'network-throttle':
    case 'network-cut':
    case 'network-hole':
      return fault.instances.map((instance) => `network ${String(instance)}`);
  }
}

export function durationOf(fault: Fault): number {
  if ('forMs' in fault) return fault.forMs;
  return 'downMs' in fault ? fault.downMs : 0;
}

export function describeFault({ kind, ...values }: Fault): string {
  const said = Object.entries(values).map(([name, value]) => `${name} ${String(value)}`);
  return [kind, ...said].join(' ');
}
