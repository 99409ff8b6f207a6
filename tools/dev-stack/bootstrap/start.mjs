import './prepare.mjs';

// In this same process: signals and the parent's end reach it without a relay.
await import('../../../dist/tools/dev-stack/start/main.js');
