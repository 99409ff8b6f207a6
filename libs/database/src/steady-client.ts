import pg from 'pg';

/** A connection that breaks without taking the process, or the next caller, with it. */
export class SteadyClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    // Between taking a connection from the pool and using it, nobody listens on it, and a server that goes down just then
    // would end the process with an unhandled 'error'. The failure is not lost: the next query on the connection rejects.
    this.on('error', () => undefined);
    const query = this.query.bind(this) as (...given: unknown[]) => unknown;
    this.query = ((...given: unknown[]) => {
      const answer = query(...given);
      if (answer instanceof Promise)
        answer.catch((error: unknown) => {
          if (isUnanswered(error)) void this.end();
        });
      return answer;
    }) as typeof this.query;
  }
}

/** The server may still be at it, or gone: what is asked next on this connection would wait behind it. */
const isUnanswered = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout';
