/** One issue of a token: when an endpoint gives the same text again, that is another issue. */
export interface IssuedToken {
  /** The value of the header `authorization`. */
  readonly authorization: string;
  /** Epoch milliseconds. */
  readonly validUntil: number;
}

export type TokenResult =
  | { readonly type: 'token'; readonly issued: IssuedToken }
  /** `detail` is for people and holds no secret. */
  | { readonly type: 'failed'; readonly detail: string }
  /** This process stops. */
  | { readonly type: 'aborted' };
