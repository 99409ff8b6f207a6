/** Makes a checkout ready to run: packages installed, sources compiled. Quick when nothing is to do. */
import { ensureBuilt } from './ensure-built.mjs';
import { ensureInstalled } from './ensure-installed.mjs';
import { assertNodeVersion } from './project.mjs';

assertNodeVersion();
await ensureInstalled();
await ensureBuilt();
