import type { Behaviour } from './behaviour.js';

export type SinkRequestMessage =
  /** Ports by endpoint; several may share one. */
  | { readonly type: 'open'; readonly ports: readonly number[] }
  | { readonly type: 'behave'; readonly endpoints: readonly number[]; readonly behaviour: Behaviour }
  | { readonly type: 'count' }
  | { readonly type: 'forget' }
  | { readonly type: 'save'; readonly file: string };

export interface SinkCount {
  readonly received: number;
  readonly answered200: number;
  readonly answeredOther: number;
  readonly atMs: number;
}
