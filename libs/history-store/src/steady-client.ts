import pg from 'pg';

/**
 * Between taking a connection from the pool and using it, nobody listens on it, and a server that goes down just then
 * would end the process with an unhandled 'error'. The failure is not lost: the next query on the connection rejects.
 */
export class SteadyClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }
}
