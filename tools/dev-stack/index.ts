export { openDataDir, readJsonFile, writeJsonFile, type DataDir } from './data-dir/data-dir.js';
export {
  clientConfig,
  startDevStack,
  type DevStack,
  type DevStackOptions,
  type ExternalParts,
  type SecuredParts,
} from './dev-stack.js';
export { defaultCacheDir } from './download-cache.js';
export { isPortFree } from './free-port.js';
export { startGuardian, type Guardian } from './processes/guardian.js';
export { createManagedProcess, type ManagedProcess, type ManagedProcessOptions } from './processes/managed-process.js';
export type { ProcessCommand } from './processes/spawn-guarded.js';
export { waitUntil } from './processes/wait-until.js';
export { projectFile, projectRoot } from './project-root.js';
export { StackError, type StackErrorCode } from './stack-error.js';
export { createTerminalReporter, silentReporter, type StackReporter } from './stack-reporter.js';
