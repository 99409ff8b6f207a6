import './prepare.mjs';

await import('../../../dist/apps/cli/src/main.js');
