/** What can go wrong for the projection, as data: a schedule can be printed, repeated and checked. */
export type ProjectionFault =
  /** SIGKILL; another process takes its place after `downMs`. */
  | { readonly kind: 'projector-kill'; readonly projector: number; readonly downMs: number }
  /** SIGSTOP, then SIGCONT: past the session timeout it wakes up as a zombie whose partitions others have. */
  | { readonly kind: 'projector-pause'; readonly projector: number; readonly forMs: number }
  /** SIGSTOP; a second process takes the same instance id; then SIGCONT: two with one name. */
  | { readonly kind: 'projector-replace'; readonly projector: number; readonly forMs: number }
  /** SIGTERM, as in a deployment. */
  | { readonly kind: 'projector-restart'; readonly projector: number; readonly downMs: number }
  /** A projector of another group works on all partitions too. */
  | { readonly kind: 'rival'; readonly forMs: number }
  /** `pg_terminate_backend` for every session of the projectors. */
  | { readonly kind: 'sessions-end' }
  /** The same for whoever has written and not yet committed at that moment. */
  | { readonly kind: 'batch-end' }
  /** Every connection of a projector to the database is reset. */
  | { readonly kind: 'network-cut'; readonly projector: number }
  /** It gets so slow that rows are on their way when the connection is reset. */
  | {
      readonly kind: 'network-crawl';
      readonly projector: number;
      readonly bytesPerSecond: number;
      readonly forMs: number;
    }
  /** Nothing passes and nobody is told. */
  | { readonly kind: 'network-hole'; readonly projector: number; readonly forMs: number }
  /** Stopped as an administrator does it, and started again after `downMs`. */
  | { readonly kind: 'database-restart'; readonly downMs: number }
  /** SIGKILL to the server. */
  | { readonly kind: 'database-kill' }
  /** SIGKILL to one process that serves a projector: the server throws all its memory away and recovers. */
  | { readonly kind: 'backend-kill' };

export type ProjectionFaultKind = ProjectionFault['kind'];

export interface ScheduledProjectionFault {
  /** From the start of the schedule. */
  readonly atMs: number;
  readonly fault: ProjectionFault;
}

/** Faults of one target come one after another; those of different targets may overlap. */
export function targetOf(fault: ProjectionFault): string {
  switch (fault.kind) {
    case 'projector-kill':
    case 'projector-pause':
    case 'projector-replace':
    case 'projector-restart':
      return `projector ${String(fault.projector)}`;
    case 'network-cut':
    case 'network-crawl':
    case 'network-hole':
      return `network ${String(fault.projector)}`;
    case 'rival':
      return 'rival';
    case 'sessions-end':
    case 'batch-end':
    case 'database-restart':
    case 'database-kill':
    case 'backend-kill':
      return 'database';
  }
}

export function describeProjectionFault({ kind, ...values }: ProjectionFault): string {
  return [kind, ...Object.entries(values).map(([name, value]) => `${name} ${String(value)}`)].join(' ');
}
