/** Prepares a checkout: packages installed, sources compiled. Quick when there is nothing to do. */
import { ensureBuilt } from './ensure-built.mjs';
import { ensureInstalled } from './ensure-installed.mjs';
import { assertNodeVersion } from './project.mjs';

assertNodeVersion();
await ensureInstalled();
await ensureBuilt();
