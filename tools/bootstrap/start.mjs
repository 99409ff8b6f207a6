import './prepare.mjs';

// In this same process: signals and the parent's end reach it without a relay.
await import('../../dist/tools/start/main.js');
