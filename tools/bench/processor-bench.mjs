import '../bootstrap/prepare.mjs';

await import('../../dist/tools/bench/processor/main.js');
