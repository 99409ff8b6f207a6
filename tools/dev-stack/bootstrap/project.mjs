import { fileURLToPath } from 'node:url';

/** The bootstrap runs before anything is installed or built: it uses Node alone. */
export const projectRoot = fileURLToPath(new URL('../../../', import.meta.url));

/** The workspaces that are published: each is built into a `dist` of its own. */
export const PACKAGES = ['libs/compact-store', 'libs/streams', 'packages/client'];

const MINIMUM = [20, 19];

/** Ends the process with one sentence when Node is too old to run the rest. */
export function assertNodeVersion() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1])) return;
  fail(`Node.js ${MINIMUM.join('.')} or newer is needed, but this is ${process.versions.node}: install a newer one.`);
}

/** On standard error: standard output belongs to the program that is being prepared. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

export function fail(sentence) {
  say(sentence);
  process.exit(1);
}
