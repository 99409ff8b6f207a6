import { readdirSync } from 'node:fs';
import js from '@eslint/js';
import importSort from 'eslint-plugin-simple-import-sort';
import tseslint from 'typescript-eslint';

const SPECS = ['**/*.spec.ts', '**/*.contract.ts', 'test/**/*.ts', 'packages/*/test/**/*.ts', '**/testing/**/*.ts'];
/** The only places where the environment is read. */
const CONFIG_FILES = ['**/config.ts', '**/*-config.ts'];

/** One schema per subject, one subject a topic: the folder knows the names of all topics. */
const topics = readdirSync(new URL('./schemas/', import.meta.url))
  .filter((file) => file.endsWith('-value.avsc'))
  .map((file) => file.replace('-value.avsc', ''));
const topicPattern = `/^(${topics.map((topic) => topic.replaceAll('.', '\\.')).join('|')})$/`;

const environment = {
  object: 'process',
  property: 'env',
  message: 'The environment is read in config files only; take a typed value from the caller.',
};
const clocks = [
  { object: 'Date', property: 'now' },
  { object: 'performance', property: 'now' },
  { object: 'Math', property: 'random' },
].map((property) => ({
  ...property,
  message: 'Time and randomness are given by the caller, so that a replay repeats.',
}));

const secureContexts = ['randomUUID', 'subtle'].map((property) => ({
  object: 'crypto',
  property,
  message: 'A page that was loaded over HTTP does not have it; use crypto.getRandomValues.',
}));

const topicNames = {
  selector: `:matches(Literal[value=${topicPattern}], TemplateElement[value.raw=${topicPattern}])`,
  message: 'Topic names are known to libs/contracts only.',
};
const mutableModules = {
  selector: ':matches(Program, ExportNamedDeclaration) > VariableDeclaration[kind="let"]',
  message: 'No mutable state at module level: make it in a factory.',
};
const namedArrows = {
  selector:
    ':matches(Program, ExportNamedDeclaration) > VariableDeclaration > VariableDeclarator[id.typeAnnotation=undefined] > ArrowFunctionExpression.init',
  message: 'Declare a named function as a function; arrows are for callbacks and for values of a declared type.',
};
const hooksOfModules = {
  selector:
    'ClassDeclaration:has(> Decorator[expression.callee.name="Module"]) > ClassBody > MethodDefinition[key.name=/^(on|before)(Module|Application)/]',
  message: 'A module only names its parts: the provider that owns the resource has the hooks of its life.',
};
const longFactories = {
  selector: 'Property[key.name="inject"] > ArrayExpression[elements.length>4]',
  message: 'A class has a constructor for this: make the provider injectable, or give it an injectable subclass.',
};
/** With `exactOptionalPropertyTypes`, callers could not hand on a setting that they may not have. */
const closedOptions = {
  selector:
    'ExportNamedDeclaration > TSInterfaceDeclaration[id.name=/(Options|Handlers|Settings)$/] > TSInterfaceBody > TSPropertySignature[optional=true]:not([typeAnnotation.typeAnnotation.type="TSUnionType"]:has(TSUnionType > TSUndefinedKeyword))',
  message: 'Callers may have nothing to say: add `| undefined`, as every other option has it.',
};
const currentDate = {
  selector: 'NewExpression[callee.name="Date"][arguments.length=0]',
  message: 'Time is given by the caller, so that a replay repeats.',
};

/** Jest has hooks for the test file that runs; a helper is imported once for many of them. */
const hooksAtImport = {
  selector:
    'CallExpression[callee.name=/^(describe|it|test|(before|after)(All|Each))$/]:not(:matches(FunctionDeclaration, FunctionExpression, ArrowFunctionExpression) *)',
  message: 'It would count for the first test file of a thread only: export a function that registers it.',
};

/** A later block replaces the options of a rule, so each is made here from those that hold everywhere. */
const restrictedSyntax = (...more) => [
  'error',
  mutableModules,
  namedArrows,
  hooksOfModules,
  longFactories,
  hooksAtImport,
  ...more,
];
const canParse = {
  object: 'URL',
  property: 'canParse',
  message:
    'Node 20 is wrong for text with letters such as "ü" after some thousand calls: use parseUrl of @waypost/egress.',
};
const restrictedProperties = (...more) => ['error', environment, canParse, ...more];

export default tseslint.config(
  {
    ignores: [
      '**/node_modules/',
      '**/dist/',
      '**/coverage/',
      '**/.waypost/',
      'libs/contracts/src/generated/',
      'packages/client/src/generated/',
    ],
  },
  js.configs.recommended,
  {
    name: 'waypost/import-order',
    plugins: { 'import-sort': importSort },
    rules: {
      'import-sort/imports': ['error', { groups: [['^\\u0000', '^node:', '^@?\\w', '^@waypost/', '^\\.']] }],
    },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    // The rules that need types are in .oxlintrc.json: there they take a fifth of the time.
    extends: [tseslint.configs.strict],
    // As in tsconfig.json: what a decorated constructor takes is imported at run time.
    languageOptions: { parserOptions: { emitDecoratorMetadata: true, experimentalDecorators: true } },
    rules: {
      'no-console': 'error',
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'no-restricted-properties': restrictedProperties(),
      'no-restricted-syntax': restrictedSyntax(topicNames),
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
    },
  },
  {
    name: 'waypost/any-page',
    files: ['apps/console/**/*.ts', 'apps/console/**/*.tsx', 'packages/client/**/*.ts'],
    // Secrets of subscriptions are for servers.
    ignores: [...SPECS, 'packages/client/src/verify.ts'],
    rules: { 'no-restricted-properties': restrictedProperties(...secureContexts) },
  },
  {
    name: 'waypost/time-is-given',
    files: ['libs/compact-store/**/*.ts', 'libs/domain/**/*.ts', 'libs/streams/**/*.ts'],
    ignores: SPECS,
    rules: {
      'no-restricted-properties': restrictedProperties(...clocks),
      'no-restricted-syntax': restrictedSyntax(topicNames, currentDate),
    },
  },
  {
    name: 'waypost/open-options',
    files: ['libs/compact-store/**/*.ts', 'libs/streams/**/*.ts'],
    ignores: SPECS,
    rules: { 'no-restricted-syntax': restrictedSyntax(topicNames, currentDate, closedOptions) },
  },
  {
    name: 'waypost/domain-waits-for-nothing',
    files: ['libs/domain/**/*.ts'],
    ignores: SPECS,
    rules: {
      'no-restricted-globals': [
        'error',
        'setTimeout',
        'setInterval',
        'setImmediate',
        'queueMicrotask',
        'fetch',
        'console',
      ],
    },
  },
  {
    name: 'waypost/requests-through-egress',
    files: ['apps/**/*.ts'],
    // The command line and the console talk to the API of their own stack.
    ignores: [...SPECS, 'apps/cli/**', 'apps/console/**'],
    rules: {
      'no-restricted-globals': ['error', { name: 'fetch', message: 'Requests go through libs/egress (R-27).' }],
    },
  },
  {
    name: 'waypost/config',
    files: CONFIG_FILES,
    // The environment is all that they read: clocks are given to them as to others.
    rules: { 'no-restricted-properties': ['error', ...clocks] },
  },
  {
    name: 'waypost/contracts',
    files: ['libs/contracts/**/*.ts'],
    // Here are the topics.
    rules: { 'no-restricted-syntax': restrictedSyntax() },
  },
  {
    name: 'waypost/tools',
    files: ['tools/**/*.ts', 'bench/**/*.ts', 'apps/cli/**/*.ts'],
    rules: { 'no-console': 'off', 'no-restricted-properties': 'off' },
  },
  {
    name: 'waypost/tests',
    files: SPECS,
    rules: {
      'max-lines-per-function': 'off',
      'no-restricted-properties': 'off',
      'no-restricted-syntax': ['error', hooksAtImport],
    },
  },
  { name: 'waypost/specs', files: ['**/*.spec.ts'], rules: { 'no-restricted-syntax': 'off' } },
  {
    name: 'waypost/scripts',
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        Buffer: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        setInterval: 'readonly',
        clearInterval: 'readonly',
        fetch: 'readonly',
      },
    },
  },
  {
    name: 'waypost/commonjs',
    files: ['**/*.cjs'],
    languageOptions: { sourceType: 'commonjs', globals: { module: 'writable', require: 'readonly' } },
  },
);
