import type { PoolClient, Submittable } from 'pg';

/** What pg hands to a query that sends data; its type declarations leave these two out. */
interface CopyConnection {
  readonly stream: NodeJS.WritableStream & { cork(): void; uncork(): void };
  query(sql: string): void;
  endCopyFrom(): void;
}

const COPY_DATA = 'd'.charCodeAt(0);
const LENGTH_BYTES = 4;

/**
 * Runs statements of which the last is a `COPY ... FROM STDIN`, and resolves to what the server says of each: `UPDATE 1`,
 * `COPY 200`. All goes out at once: a server that does not get as far as the COPY overlooks the data. The data goes to the
 * socket as it is, where pg's own sending would copy it once more.
 */
export function copyIn(client: PoolClient, sql: string, data: Buffer): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    client.query(new CopyIn(sql, data, resolve, reject));
  });
}

/** pg calls its methods as the server answers. */
class CopyIn implements Submittable {
  private readonly results: string[] = [];
  private failed = false;

  constructor(
    private readonly sql: string,
    private readonly data: Buffer,
    private readonly resolve: (results: readonly string[]) => void,
    private readonly reject: (error: unknown) => void,
  ) {}

  submit(submittedTo: unknown): void {
    const connection = submittedTo as CopyConnection;
    const header = Buffer.alloc(1 + LENGTH_BYTES);
    header.writeUInt8(COPY_DATA);
    header.writeUInt32BE(this.data.length + LENGTH_BYTES, 1);
    connection.stream.cork();
    connection.query(this.sql);
    connection.stream.write(header);
    connection.stream.write(this.data);
    connection.endCopyFrom();
    connection.stream.uncork();
  }

  handleCopyInResponse(): void {
    // The data is on its way.
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.results.push(text);
  }

  /** Of the server, or of the connection; after one of the server a ReadyForQuery still follows. */
  handleError(error: unknown): void {
    this.failed = true;
    this.reject(error);
  }

  handleReadyForQuery(): void {
    if (!this.failed) this.resolve(this.results);
  }
}
