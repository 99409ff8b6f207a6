import '../bootstrap/prepare.mjs';

await import('../../dist/tools/bench/api/main.js');
