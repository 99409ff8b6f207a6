import { createProcessHost } from './process-host.js';

/** Aborts on Ctrl-C and SIGTERM and, in a supervised process, when the supervisor is gone. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const host = createProcessHost();
  host.onStopSignal(() => controller.abort());
  if (process.env['WAYPOST_SUPERVISED'] === 'true') host.onParentGone(() => controller.abort());
  return controller.signal;
}
