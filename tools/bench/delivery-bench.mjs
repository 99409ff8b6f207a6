import '../bootstrap/prepare.mjs';

await import('../../dist/tools/bench/delivery/main.js');
