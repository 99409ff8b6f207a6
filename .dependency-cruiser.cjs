/**
 * The import law: which part may know which. docs/architecture.md has it as a table; tools/import-law plants one
 * violation of each rule and expects to see it found.
 */
const SPEC = '\\.(spec|contract)\\.ts$';
const TEST_CODE = [
  SPEC,
  '^test/',
  '^(apps|libs|tools)/[^/]+/src/testing/',
  '^(apps|libs|tools)/[^/]+/src/[^/]+/testing/',
  '/protocol/testing/',
  '^tools/[^/]+/testing/',
];

/** npm packages as they are resolved, wherever node_modules lies. */
const packages = (...names) => `node_modules/(${names.join('|')})/`;

/** A library, the libraries it may know, and the packages (and core modules) it may use outside of its specs. */
const LAYERS = [
  // The domain's packages compute and do nothing else: geometry has too many corners to be written once more.
  {
    library: 'domain',
    knows: [],
    packages: ['cheap-ruler', 'flatbush', 'point-in-polygon-hao'],
    coreModules: ['crypto'],
  },
  { library: 'contracts', knows: ['domain'], packages: ['avsc', '@kafkajs/confluent-schema-registry'] },
  {
    library: 'streams',
    knows: [],
    packages: ['kafkajs', 'prom-client', 'snappy', 'lz4-napi', 'fzstd', '@node-rs/crc32'],
  },
  { library: 'compact-store', knows: ['streams'], packages: [] },
  {
    library: 'database',
    knows: [],
    packages: ['@nestjs/common', '@nestjs/typeorm', 'typeorm', 'pg', '@types/pg', 'reflect-metadata'],
  },
  {
    library: 'management-store',
    knows: ['domain', 'database'],
    packages: ['@nestjs/common', '@nestjs/typeorm', 'typeorm', 'pg', '@types/pg', 'reflect-metadata'],
  },
  {
    library: 'history-store',
    knows: ['domain', 'database'],
    packages: ['typeorm', 'pg', '@types/pg', 'p-limit', 'reflect-metadata'],
  },
  {
    library: 'platform',
    // Of database only the judge of its URL, which has no packages: most processes never ask the database.
    knows: ['streams', 'contracts', 'database/src/address'],
    packages: ['@nestjs/[^/]+', '@opentelemetry/[^/]+', 'zod', 'pino', 'prom-client', 'reflect-metadata', 'rxjs'],
  },
  { library: 'egress', knows: ['domain'], packages: ['ipaddr\\.js'] },
];

function layerRules({ library, knows, packages: allowedPackages, coreModules }) {
  const own = `^libs/${library}/`;
  const workspace = [own, ...knows.map((name) => `^libs/${name}/`)];
  const rules = [
    {
      name: `${library}-knows-its-layer`,
      comment: `libs/${library} may import of our own code: ${['itself', ...knows].join(', ')}.`,
      severity: 'error',
      from: { path: own },
      // Production code is kept from test/ by a rule of its own.
      to: { path: '^(libs|apps|tools|bench|test)/', pathNot: [...workspace, '^test/support/'] },
    },
    {
      name: `${library}-uses-its-packages`,
      comment: `libs/${library} may use these packages: ${allowedPackages.join(', ') || 'none'}.`,
      severity: 'error',
      from: { path: own, pathNot: TEST_CODE },
      to: { path: 'node_modules/', pathNot: allowedPackages.length > 0 ? [packages(...allowedPackages)] : [] },
    },
  ];
  if (coreModules === undefined) return rules;
  return [
    ...rules,
    {
      name: `${library}-is-pure`,
      comment: `libs/${library} does no I/O and knows no clock: of the core modules only ${coreModules.join(', ')}.`,
      severity: 'error',
      from: { path: own, pathNot: TEST_CODE },
      to: { dependencyTypes: ['core'], pathNot: coreModules.map((name) => `^(node:)?${name}$`) },
    },
  ];
}

module.exports = {
  forbidden: [
    ...LAYERS.flatMap(layerRules),
    {
      name: 'libraries-through-their-index',
      comment:
        'A library is reached through its src/index.ts only, what few need of a library, or need without the rest, through an index of its own, and test doubles through src/testing/index.ts.',
      severity: 'error',
      from: { path: '^(?:libs/([^/]+)|apps/[^/]+|tools|bench|test)/' },
      to: {
        path: '^libs/[^/]+/src/',
        pathNot: [
          '^libs/[^/]+/src/(testing/)?index\\.ts$',
          '^libs/streams/src/(admin|backend/kafka|prometheus)/index\\.ts$',
          '^libs/database/src/address/index\\.ts$',
          '^libs/platform/src/without-nest/index\\.ts$',
          '^libs/$1/',
        ],
      },
    },
    {
      name: 'tutorials-through-the-index',
      comment: 'A tutorial uses its library as a stranger would; it may use the helpers of tests.',
      severity: 'error',
      from: { path: '^libs/[^/]+/tutorial/' },
      to: {
        path: '^(apps|libs|tools|bench|test)/',
        pathNot: ['^libs/[^/]+/src/((admin|prometheus|testing)/)?index\\.ts$', '^test/support/'],
      },
    },
    {
      name: 'apps-apart',
      comment: 'Applications meet in topics, tables and at the admin port, never by import.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'commands-without-nest',
      comment: 'What a person starts by hand is no Nest application, and Nest takes half a second to load.',
      severity: 'error',
      from: { path: '^(apps/cli|tools)/', pathNot: TEST_CODE },
      to: { path: '^libs/platform/src/index\\.ts$' },
    },
    {
      name: 'production-without-tools',
      comment: 'Applications and libraries know neither tools nor tests.',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: TEST_CODE },
      to: { path: '^(tools|bench|test)/' },
    },
    {
      name: 'production-without-doubles',
      comment: 'Only test code imports test doubles and other helpers of tests.',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: [...TEST_CODE, '/testing/', '^libs/[^/]+/tutorial/'] },
      to: { path: '^(apps|libs)/.*/testing/' },
    },
    {
      name: 'production-without-specs',
      comment: 'Only test code imports specs and contract suites.',
      severity: 'error',
      from: { path: '^(apps|libs|tools|bench)/', pathNot: TEST_CODE },
      to: { path: SPEC },
    },
    {
      name: 'production-without-dev-dependencies',
      comment: 'What runs from the image must be a dependency, not a devDependency.',
      severity: 'error',
      from: {
        path: '^(apps|libs|packages|tools/(simulator|demo-subscriber))/',
        pathNot: [...TEST_CODE, '^packages/[^/]+/test/'],
      },
      // Types are gone when it runs, and peers are what its user installs.
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only', 'npm-peer'] },
    },
    {
      name: 'kafkajs-behind-the-backend',
      comment: 'The Kafka client is known to the backend of libs/streams, its specs and tools, to nothing else.',
      severity: 'error',
      from: {
        pathNot: [
          '^libs/streams/src/(admin|backend|protocol/testing)/',
          `^libs/streams/.*${SPEC}`,
          '^(bench|tools|test)/',
        ],
      },
      to: { path: packages('kafkajs') },
    },
    {
      name: 'requests-to-brokers-for-checks',
      comment:
        'Single requests to brokers are for what checks a cluster before or beside the runtime: doctor, and the start.',
      severity: 'error',
      from: { pathNot: ['^libs/streams/', '^libs/platform/src/app/', '^apps/cli/src/doctor/', ...TEST_CODE] },
      to: { path: '^libs/streams/src/backend/kafka/index\\.ts$' },
    },
    {
      name: 'requests-through-egress',
      comment: 'Production sends HTTP requests through libs/egress, which checks where they lead (R-27).',
      severity: 'error',
      // Of the others, platform serves HTTP; the backend of streams speaks to brokers, contracts to the registry and
      // database to PostgreSQL, all of them named by the operator.
      from: {
        path: '^(apps|libs)/',
        pathNot: [
          '^libs/egress/',
          '^libs/platform/',
          '^libs/streams/src/backend/',
          '^libs/contracts/src/registry/registry-http\\.ts$',
          ...TEST_CODE,
        ],
      },
      to: { path: '^(node:)?(http|https|http2|net|tls|dgram)$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'client-knows-its-layer',
      comment: 'What integrators install runs in browsers too: no packages, no core modules, none of our own code.',
      severity: 'error',
      from: { path: '^packages/', pathNot: [SPEC, '^packages/[^/]+/test/'] },
      to: { pathNot: '^packages/' },
    },
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one thing, or hide a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'A file that nobody imports and that imports nobody is left over.',
      severity: 'error',
      from: { orphan: true, path: '^(apps|libs)/.*\\.ts$', pathNot: ['/(main|index)\\.ts$', '\\.d\\.ts$', SPEC] },
      to: {},
    },
    {
      name: 'no-unresolvable',
      comment: 'Every import leads somewhere. The packages of the documentation site are installed when it is built.',
      severity: 'error',
      from: { pathNot: '^tools/docs-site/[.]vitepress/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
