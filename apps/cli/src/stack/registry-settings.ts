import { BootError, parseConfig, registryConfig, type RegistryConfig } from '@waypost/platform';
import { CliError } from '../cli-error.js';
import type { StackEnvironment } from './stack-config.js';

/** The registry of the stack, read as the applications read it (user and certificate authority included). */
export function registrySettings(stack: StackEnvironment): RegistryConfig {
  stack.require('SCHEMA_REGISTRY_URL');
  try {
    return parseConfig(registryConfig, stack.variables);
  } catch (error) {
    if (error instanceof BootError) throw new CliError(error.message, 1, { cause: error });
    throw error;
  }
}
