/** Whoever has posts in flight that may belong to a group. */
export interface AbortGroupMember {
  abort(group: AbortGroup): void;
}

/**
 * Gives up many posts at once. Unlike a shared AbortSignal it costs next to nothing per post: which posts belong to it
 * is looked for when it is aborted.
 */
export interface AbortGroup {
  readonly aborted: boolean;
  /** Posts of the group in flight settle as aborted, later ones are not sent. */
  abort(): void;
  /** For the client that is given the group with a post. */
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
