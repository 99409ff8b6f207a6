import '../bootstrap/prepare.mjs';

await import('../../dist/tools/bench/history/main.js');
