import './prepare.mjs';

await import('../../dist/tools/waypost/main.js');
