import { type DataDir, isPortFree, type ManagedProcess, StackError } from '../index.js';
import { identityOf } from '../processes/process-identity.js';

const DEFAULT_PORT = 8_080;

/** Called first, since the requested port may be impossible. @throws StackError `no_free_port` */
export async function assertFree(asked: number | undefined): Promise<void> {
  if (asked !== undefined && !(await isPortFree(asked))) throw taken(asked);
}

/** Called as late as possible: until the API listens, another stack may find the same port free. */
export function chooseApiPort(dataDir: DataDir, asked: number | undefined): Promise<number> {
  return asked === undefined ? dataDir.port('public-api', DEFAULT_PORT) : Promise.resolve(asked);
}

/** Reports if another program took the port first. The API's own message names a variable that is not set. */
export function withPort(api: ManagedProcess, port: number): ManagedProcess {
  return {
    ...api,
    async start() {
      try {
        await api.start();
      } catch (error) {
        const pid = api.pid();
        const hasEnded = pid !== undefined && identityOf(pid) === null;
        if (hasEnded && !(await isPortFree(port))) throw taken(port, error);
        throw error;
      }
    },
  };
}

function taken(port: number, cause?: unknown): StackError {
  return new StackError('no_free_port', `Port ${String(port)} is in use: name another --port.`, { cause });
}
