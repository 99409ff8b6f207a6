import type { Socket } from 'node:net';

export interface ProtocolRequest {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly apiName: string;
  readonly encode: () => Promise<unknown>;
}

export interface ProtocolExchange<T> {
  readonly request: ProtocolRequest;
  readonly response: { decode(raw: Buffer): Promise<unknown>; parse(decoded: unknown): Promise<T> };
  readonly requestTimeout?: number | null;
}

export interface KafkajsBroker {
  readonly nodeId: number | null;
  /** What the broker speaks, by api key; null before it is connected. */
  readonly versions: Readonly<Record<number, { readonly maxVersion: number } | undefined>> | null;
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  isConnected(): boolean;
  readonly connectionPool: {
    send(exchange: ProtocolExchange<unknown>): Promise<unknown>;
    readonly pool: readonly { readonly socket?: Socket | null }[];
  };
}
