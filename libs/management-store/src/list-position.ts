/** Where a page of a list in the order of creation goes on: after this one. */
export interface ListPosition {
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly id: string;
}
