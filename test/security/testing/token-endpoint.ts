import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TokenEndpoint {
  readonly url: string;
  /** How many tokens it has issued. */
  issued(): number;
  close(): Promise<void>;
}

export const TOKEN_CLIENT = { id: 'waypost-client', secret: 'token-secret' } as const;

/** Issues tokens to one client: JSON Web Signatures without a signature, which Kafka's own check for tests accepts. */
export async function startTokenEndpoint(now = Date.now): Promise<TokenEndpoint> {
  let issued = 0;
  const login = `Basic ${Buffer.from(`${TOKEN_CLIENT.id}:${TOKEN_CLIENT.secret}`).toString('base64')}`;
  const server = createServer((request, response) => {
    const isKnown = request.headers.authorization === login;
    if (isKnown) issued += 1;
    response
      .writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' })
      .end(
        JSON.stringify(isKnown ? { access_token: unsignedToken(now()), expires_in: 300 } : { error: 'invalid_client' }),
      );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/token`,
    issued: () => issued,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function unsignedToken(nowMs: number, subject = 'token-user'): string {
  const seconds = Math.floor(nowMs / 1_000);
  const part = (claims: object): string => Buffer.from(JSON.stringify(claims)).toString('base64url');
  return `${part({ alg: 'none' })}.${part({ sub: subject, iat: seconds, exp: seconds + 300 })}.`;
}
