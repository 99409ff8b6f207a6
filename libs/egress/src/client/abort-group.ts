/** Holds posts in flight that may belong to a group. */
export interface AbortGroupMember {
  abort(group: AbortGroup): void;
}

/**
 * Aborts many posts at once. Unlike a shared AbortSignal it costs next to nothing per post: its posts are looked up
 * only on abort.
 */
export interface AbortGroup {
  readonly aborted: boolean;
  /** Posts in flight settle as aborted, later ones are not sent. */
  abort(): void;
  /** Called by the client for each post of the group. */
  include(member: AbortGroupMember): void;
}

export function createAbortGroup(): AbortGroup {
  return new Group();
}

class Group implements AbortGroup {
  aborted = false;
  private readonly members = new Set<AbortGroupMember>();

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    for (const member of this.members) member.abort(this);
    this.members.clear();
  }

  include(member: AbortGroupMember): void {
    this.members.add(member);
  }
}
