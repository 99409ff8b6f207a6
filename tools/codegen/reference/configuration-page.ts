import ts from 'typescript';
import { productionSources, type SourceFile, walk } from './source-files.js';

interface Variable {
  readonly name: string;
  /** The default as in the code; undefined: the variable is required. */
  readonly fallback: string | undefined;
  readonly readBy: ReadonlySet<string>;
}

const APPLICATIONS = ['telemetry-processor', 'webhook-delivery', 'history-projector', 'public-api'];
const START = '`npm start`';
const COMMAND_LINE = '`waypost`';

/** The meaning of each variable; the rest of the page is read from the code. */
const MEANINGS: Readonly<Record<string, string>> = {
  KAFKA_BROKERS: '`host:port,...`',
  KAFKA_SASL_MECHANISM:
    '`plain`, `scram-sha-256` or `scram-sha-512`, set with user name and password; `oauthbearer`, set with `KAFKA_OAUTH_*`; or `aws-msk-iam`, set with `KAFKA_AWS_REGION`',
  KAFKA_SASL_USERNAME: 'User name for SASL',
  KAFKA_SASL_PASSWORD: 'Password for SASL',
  KAFKA_OAUTH_TOKEN_URL: 'Token endpoint for client credentials; set NODE_EXTRA_CA_CERTS for your own CA',
  KAFKA_OAUTH_CLIENT_ID: 'Client id at the token endpoint',
  KAFKA_OAUTH_CLIENT_SECRET: 'Client secret at the token endpoint',
  KAFKA_OAUTH_SCOPE: 'Scopes of the token, separated by spaces',
  KAFKA_AWS_REGION: 'Region of an Amazon MSK cluster, for login with IAM',
  KAFKA_TLS: 'Connect with TLS; certificates and names are always verified',
  KAFKA_TLS_CA_FILE: 'PEM file of the certificate authority of the brokers; switches TLS on',
  KAFKA_TLS_CERT_FILE: 'PEM file of a client certificate; switches TLS on',
  KAFKA_TLS_KEY_FILE: 'PEM file of the key of the client certificate',
  SCHEMA_REGISTRY_URL: 'Base URL of a Confluent-compatible registry; may contain `user:password@`',
  SCHEMA_REGISTRY_CA_FILE: 'PEM file of the certificate authority of an `https` registry',
  DATABASE_URL: 'PostgreSQL URL; TLS with `?sslmode=verify-full&sslrootcert=...`',
  DATABASE_READ_URL: 'PostgreSQL URL of a standby; history pages are read there and may be as stale as it is',
  DATABASE_SCHEMA_URL:
    'PostgreSQL URL of the login that owns the tables, for migrations and the daily tables; default: `DATABASE_URL`',
  WAYPOST_SEALING_KEY:
    'Base64 of 32 bytes; encrypts stored secrets (`openssl rand -base64 32`). Several, comma-separated: all decrypt, the first encrypts',
  WAYPOST_PAGE_TOKEN_KEY:
    'Base64 of 32 bytes; authenticates `pageState`. Several, comma-separated: all are accepted, the first signs',
  WAYPOST_HOST: 'Address on which the API is served: by default all of IPv4; `::` for IPv6 too',
  WAYPOST_PORT: 'Port of the API; 0 uses any free one',
  WAYPOST_DRAIN_MS:
    'How long requests are still served after the signal to stop, while `/health/ready` already returns 503: as long as your load balancer takes to notice',
  WAYPOST_PUBLIC_URL:
    'URL of the console and the API, for links to the portal; by default the URL that the request was sent to',
  WAYPOST_MAP_TILE_URL:
    'URL of raster tiles below the maps of the console, such as `https://tiles.example.com/{z}/{x}/{y}.png`. The tile server learns which places users look at. Unset: maps without tiles',
  WAYPOST_MAP_ATTRIBUTION: 'Attribution of the tiles, as their license requires; shown on each map',
  WAYPOST_ADMIN_KEY_SHA256:
    'SHA-256 of an admin key in hexadecimal, which then acts for every fleet; several are comma-separated. Unset: no admin key',
  WAYPOST_ADMIN_URLS:
    'Admin addresses of all instances, comma-separated, such as `http://10.0.0.7:9100`; an admin key can then list their partitions. `waypost tasks` also reads it, by default from `stack.json`',
  WAYPOST_V1_GONE: '`true`: v1 responds with 410',
  WAYPOST_RATE_LIMIT_PER_SECOND: 'Requests per second of one API key, per process',
  WAYPOST_RATE_LIMIT_BURST: 'Burst of requests of one API key, per process',
  WAYPOST_ADDRESS_RATE_LIMIT_PER_SECOND: 'Requests per second of one address without a valid API key, per process',
  WAYPOST_ADDRESS_RATE_LIMIT_BURST: 'Burst of requests of one address without a valid API key, per process',
  WAYPOST_MAX_SUBSCRIPTIONS_PER_FLEET: 'Maximum webhook subscriptions of a fleet',
  WAYPOST_MAX_DEVICE_IDS_PER_FLEET: 'Maximum device ids of all webhook subscriptions of a fleet together',
  WAYPOST_MAX_API_KEYS_PER_FLEET: 'Maximum API keys of a fleet that are not revoked',
  WAYPOST_MAX_PORTAL_SESSIONS_PER_FLEET: 'Maximum portal sessions of a fleet that have not ended',
  WAYPOST_MAX_GEOFENCE_POSITIONS_PER_DAY:
    'Maximum positions of geofences that a fleet writes in a day (UTC); each change of a geofence or of the fleet counts 30 more',
  WAYPOST_MAX_REPLAYS_PER_DAY: 'Maximum replays, with resends of one event, that a fleet starts in a day (UTC)',
  WAYPOST_MAX_STREAMS_PER_FLEET: 'Maximum live streams of a fleet, per process',
  WAYPOST_TRUSTED_PROXIES: 'Addresses and subnets of proxies whose `X-Forwarded-For` is trusted',
  WAYPOST_REPLAY_MAX_UNSENT: 'Maximum deliveries of one replay that are written but not yet sent',
  WAYPOST_PROJECTION_TRANSACTIONS: 'Concurrent transactions with deliveries in the database, 1 to 8',
  WAYPOST_EGRESS_ALLOW:
    'Subnets that may be called although they are not public. Development only; `npm start` allows loopback',
  WAYPOST_EGRESS_DENY: 'Subnets and host names (with all names below them) that are never called',
  WAYPOST_EGRESS_CA_FILE: 'PEM file of a certificate authority to trust for receivers, in addition to the public ones',
  WAYPOST_EGRESS_PROXY_URL:
    '`http://user:password@host:port` of a CONNECT proxy for every request to receivers and token endpoints. A secret',
  WAYPOST_ALLOW_HTTP: 'Accept `http` URLs. Development only; `npm start` sets it',
  WAYPOST_INSTANCE_ID: 'A unique name for each process: Kafka static membership',
  WAYPOST_STATE_DIR:
    'A directory for checkpoints of the state, used by this process only: a restart then reads only the rest of the log',
  WAYPOST_LINGER_MS:
    'Longest wait of a partition after a small transaction, so that pings that arrive in the meantime share the next one; default: 1.2 ms for each partition of `telemetry.pings`, from 10 to 500 ms',
  WAYPOST_RULES: '`all`, or `positions` for positions and ignition changes only',
  WAYPOST_ADMIN_HOST:
    'Address on which health, readiness and metrics are served; `0.0.0.0` in a container, or `::` for IPv6 too. Commands are accepted only from the same host',
  WAYPOST_ADMIN_PORT: 'Port of health, readiness and metrics; 0 uses any free one',
  OTEL_EXPORTER_OTLP_ENDPOINT:
    'Base URL of a collector that receives spans by OTLP over HTTP ([traces](../operations.md#traces)); unset: no spans',
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'The full URL for spans, instead of the one above',
  WAYPOST_TRACE_SAMPLE_RATIO:
    'Share of traces to sample, of those that start in Waypost because the producer sent none',
  WAYPOST_SUPERVISED: 'Stop when the process that started this one ends',
  LOG_LEVEL: '`debug`, `info`, `warn`, `error` or `silent`',
  WAYPOST_PARTITIONS: 'Partitions of new topics',
  WAYPOST_REPLICATION_FACTOR: 'Replicas of new topics; from 3 on, `min.insync.replicas` is 2, else 1',
};

const TRACED = 'telemetry-processor, webhook-delivery, history-projector';

/** Variables read without a parser of libs/platform. */
const OTHERS = [
  [
    'NODE_EXTRA_CA_CERTS',
    'none',
    'all',
    'PEM file of certificate authorities to trust in addition to those of Node.js, which reads this variable',
  ],
  [
    'OTEL_EXPORTER_OTLP_HEADERS',
    'none',
    TRACED,
    'Headers of each export, `name=value,...`, such as credentials. A secret',
  ],
  ['OTEL_EXPORTER_OTLP_CERTIFICATE', 'none', TRACED, 'PEM file of the certificate authority of the collector'],
  ['WAYPOST_CACHE_DIR', '`~/.cache/waypost`', START, 'Where downloads are kept'],
  ['WAYPOST_API_URL', 'from `stack.json`', COMMAND_LINE, 'API that the command line calls'],
] as const;

/** Variables that are read only to refuse them. */
const REFUSED = new Set(['PGSSLMODE']);

/** docs/reference/configuration.md. `root`: the project's folder. @throws Error if a variable has no meaning here */
export async function configurationPage(root: string): Promise<string> {
  const variables = variablesOf(await productionSources(root, ['apps', 'libs', 'tools/dev-stack']));
  assertSame(new Set(variables.map(({ name }) => name)), new Set(Object.keys(MEANINGS)));
  return [
    '# Configuration',
    '',
    'Generated by `npm run codegen` from the configuration parsers; do not edit. Applications read environment variables once, at start. All',
    'problems are printed at once, and the process exits with 78. `npm start` sets the required variables and passes on yours; it and the',
    'command line also read the variables of Kafka, the registry and the database.',
    '',
    '| Variable | Default | Read by | Meaning |',
    '| --- | --- | --- | --- |',
    ...variables.map((variable) => row(variable)),
    ...OTHERS.map(([name, fallback, readBy, meaning]) => `| \`${name}\` | ${fallback} | ${readBy} | ${meaning} |`),
    '',
  ].join('\n');
}

function assertSame(found: ReadonlySet<string>, described: ReadonlySet<string>): void {
  const undescribed = [...found].filter((name) => !described.has(name));
  const gone = [...described].filter((name) => !found.has(name));
  if (undescribed.length + gone.length === 0) return;
  const problems = [
    ...undescribed.map((name) => `${name} is not described`),
    ...gone.map((name) => `${name} is not read`),
  ];
  throw new Error(`configuration-page.ts: ${problems.join(', ')}.`);
}

function row({ name, fallback, readBy }: Variable): string {
  const apps = APPLICATIONS.filter((app) => readBy.has(app));
  const others = [START, COMMAND_LINE].filter((reader) => readBy.has(reader));
  const readers = apps.length === APPLICATIONS.length ? 'all' : [...apps, ...others].join(', ');
  return `| \`${name}\` | ${shownDefault(fallback)} | ${readers} | ${(MEANINGS[name] ?? '').replaceAll('|', '\\|')} |`;
}

function shownDefault(fallback: string | undefined): string {
  if (fallback === undefined) return 'required';
  if (fallback === 'undefined' || fallback === '[]') return 'none';
  return `\`${fallback.replaceAll(/[_']/g, '')}\``;
}

/** Finds `NAME: required(...)` and `NAME: withDefault(..., fallback)`, with the applications that use their parser. */
export function variablesOf(sources: readonly SourceFile[]): Variable[] {
  const variables: Variable[] = [];
  for (const { path, syntax } of sources) {
    walk(syntax, (node) => {
      if (!ts.isPropertyAssignment(node) || !/^[A-Z][A-Z0-9_]+$/.test(node.name.getText())) return;
      const call = node.initializer;
      if (!ts.isCallExpression(call) || !['required', 'withDefault'].includes(call.expression.getText())) return;
      if (REFUSED.has(node.name.getText())) return;
      const fallback =
        call.expression.getText() === 'required' ? undefined : (call.arguments[2]?.getText() ?? 'undefined');
      variables.push({ name: node.name.getText(), fallback, readBy: readersOf(sources, path, parserAround(node)) });
    });
  }
  return variables.sort((a, b) => order(a.name) - order(b.name));
}

function order(name: string): number {
  const index = Object.keys(MEANINGS).indexOf(name);
  return index === -1 ? Number.MAX_SAFE_INTEGER : index;
}

/** The exported name that stands for the parser. */
function parserAround(node: ts.Node): string {
  const statement = ts.findAncestor(node, (parent) => ts.isSourceFile(parent.parent));
  if (statement === undefined) return '';
  if (ts.isFunctionDeclaration(statement)) return statement.name?.text ?? '';
  if (!ts.isVariableStatement(statement)) return '';
  return statement.declarationList.declarations[0]?.name.getText() ?? '';
}

/** The applications whose code names the parser, directly or through another parser of its library. */
function readersOf(sources: readonly SourceFile[], home: string, parser: string): Set<string> {
  const readers = new Set<string>();
  const ownApp = appOf(home);
  if (ownApp !== undefined) return readers.add(ownApp);
  for (const { path, syntax } of sources) {
    const names = new RegExp(`\\b${parser}\\b`).test(syntax.text);
    if (!names) continue;
    const app = appOf(path);
    if (app !== undefined) readers.add(app);
    else if (path === home)
      for (const wider of widerParsers(syntax, parser))
        readersOf(sources, home, wider).forEach((reader) => readers.add(reader));
  }
  return readers;
}

function widerParsers(source: ts.SourceFile, parser: string): string[] {
  const wider = new Set<string>();
  walk(source, (node) => {
    if (!ts.isIdentifier(node) || node.text !== parser) return;
    const around = parserAround(node);
    if (around !== parser && around !== '') wider.add(around);
  });
  return [...wider];
}

function appOf(path: string): string | undefined {
  if (path.startsWith('tools/dev-stack/')) return START;
  const app = /^apps\/([^/]+)\//.exec(path)?.[1];
  return app === 'cli' ? COMMAND_LINE : app;
}
