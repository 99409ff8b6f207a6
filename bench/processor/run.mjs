import '../../tools/dev-stack/bootstrap/prepare.mjs';

await import('../../dist/bench/processor/main.js');
