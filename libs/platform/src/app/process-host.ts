import { fstatSync } from 'node:fs';

/** What an application needs from its process; a test passes a recording one. */
export interface ProcessHost {
  exit(code: number): void;
  /** Prints the one sentence of a boot error, before or without a logger. */
  printError(text: string): void;
  onStopSignal(listener: (signal: string) => void): void;
  onUncaught(listener: (error: unknown) => void): void;
  /** Calls once when the parent process is gone. Never keeps the process alive by itself. */
  onParentGone(listener: () => void): void;
}

export function createProcessHost(): ProcessHost {
  return {
    exit: (code) => process.exit(code),
    printError: (text) => process.stderr.write(`${text}\n`),
    onStopSignal: (listener) => process.on('SIGTERM', listener).on('SIGINT', listener),
    onUncaught: (listener) => process.on('uncaughtException', listener).on('unhandledRejection', listener),
    onParentGone: watchParent,
  };
}

function watchParent(listener: () => void): void {
  if (process.send !== undefined) {
    process.once('disconnect', listener);
    // Undoes the reference that the listener has taken to the channel.
    process.channel?.unref();
    return;
  }
  if (!isStdinHeldByParent()) return;
  process.stdin.once('close', listener).once('end', listener).once('error', listener);
  process.stdin.resume();
  process.stdin.unref();
}

/** A pipe or socket closes with the parent; /dev/null, files and terminals say nothing about it. */
function isStdinHeldByParent(): boolean {
  try {
    const stdin = fstatSync(0);
    return stdin.isFIFO() || stdin.isSocket();
  } catch {
    return false;
  }
}
