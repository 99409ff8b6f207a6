/** The part of autocannon that is used; the package brings no types. */
declare module 'autocannon' {
  interface Options {
    readonly url: string;
    readonly connections: number;
    readonly duration: number;
    readonly requests: readonly {
      readonly method: string;
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
    }[];
  }
  interface Result {
    readonly duration: number;
    readonly requests: { readonly total: number };
    readonly throughput: { readonly total: number };
    readonly latency: { readonly p50: number; readonly p99: number; readonly max: number };
    readonly non2xx: number;
    readonly errors: number;
    readonly timeouts: number;
  }
  export default function autocannon(options: Options): Promise<Result>;
}
