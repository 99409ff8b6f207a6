/** The entry point of the image: its first argument names the program, the others go to it. */
const PROGRAMS = {
  'telemetry-processor': 'apps/telemetry-processor/src/main.js',
  'webhook-delivery': 'apps/webhook-delivery/src/main.js',
  'history-projector': 'apps/history-projector/src/main.js',
  'public-api': 'apps/public-api/src/main.js',
  waypost: 'apps/cli/src/main.js',
  simulator: 'tools/simulator/main.js',
  'demo-subscriber': 'tools/demo-subscriber/main.js',
};

const [name] = process.argv.splice(2, 1);
if (!Object.hasOwn(PROGRAMS, name ?? '')) {
  process.stderr.write(`The argument of this image is one of ${Object.keys(PROGRAMS).join(', ')}.\n`);
  process.exit(64);
}
// The command line commands the application that its container runs, and calls the API where that is one. public-api has no such
// default: one address of many is not all instances.
if (name === 'waypost') {
  const { WAYPOST_ADMIN_PORT, WAYPOST_PORT } = process.env;
  process.env.WAYPOST_ADMIN_URLS ??= `http://127.0.0.1:${WAYPOST_ADMIN_PORT}`;
  if (WAYPOST_PORT !== undefined) process.env.WAYPOST_API_URL ??= `http://127.0.0.1:${WAYPOST_PORT}`;
}
// In this same process: signals reach it without a relay.
await import(new URL(`../../dist/${PROGRAMS[name]}`, import.meta.url));
