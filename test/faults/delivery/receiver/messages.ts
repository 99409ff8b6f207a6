import type { EndpointBehaviour } from './endpoint.js';

export interface ReceiverEndpoint {
  readonly path: string;
  readonly behaviour: EndpointBehaviour;
  /** As its owner sees it. */
  readonly secret: string;
}

export type ReceiverRequest =
  | {
      readonly type: 'open';
      readonly port: number;
      readonly file: string;
      readonly endpoints: readonly ReceiverEndpoint[];
    }
  | { readonly type: 'count' }
  /** Resolves when every receipt is in the file. */
  | { readonly type: 'save' }
  | { readonly type: 'close' };

export interface ReceiverCount {
  readonly posts: number;
  readonly accepted: number;
}
