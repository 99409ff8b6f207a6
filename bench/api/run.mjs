import '../../tools/dev-stack/bootstrap/prepare.mjs';

await import('../../dist/bench/api/main.js');
