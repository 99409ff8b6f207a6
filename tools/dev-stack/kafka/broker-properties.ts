export interface BrokerPorts {
  readonly broker: number;
  readonly controller: number;
}

/**
 * A single node that is broker and controller. The keys are those of `server.properties`; `secured` replaces the plain
 * listener by those of secured-listeners.ts.
 */
export function brokerProperties(
  ports: BrokerPorts,
  logDir: string,
  secured: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const broker = `127.0.0.1:${String(ports.broker)}`;
  const controller = `127.0.0.1:${String(ports.controller)}`;
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    listeners: `PLAINTEXT://${broker},CONTROLLER://${controller}`,
    'advertised.listeners': `PLAINTEXT://${broker}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'controller.quorum.bootstrap.servers': controller,
    'log.dirs': logDir,
    // Topics are declared and created in one place; a misspelled name must fail, not create a topic.
    'auto.create.topics.enable': 'false',
    'num.network.threads': '2',
    'num.io.threads': '4',
    // The internal topics default to 50 partitions on three brokers.
    'offsets.topic.num.partitions': '4',
    'offsets.topic.replication.factor': '1',
    'transaction.state.log.num.partitions': '4',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    // Groups form at once, and a killed member or transaction is noticed within seconds.
    'group.initial.rebalance.delay.ms': '0',
    'group.min.session.timeout.ms': '1000',
    'group.coordinator.append.linger.ms': '0',
    'transaction.abort.timed.out.transaction.cleanup.interval.ms': '1000',
    // A killed broker cannot register again before its old session ends, by default after 9 s.
    'broker.session.timeout.ms': '3000',
    'broker.heartbeat.interval.ms': '500',
    // The first write to a file of the default 10 MB takes the kernel tens of milliseconds, for each partition.
    'log.index.size.max.bytes': '262144',
    'log.cleaner.backoff.ms': '2000',
    'log.cleaner.dedupe.buffer.size': '33554432',
    ...secured,
  };
}

export function propertiesText(properties: Readonly<Record<string, string>>): string {
  return Object.entries(properties)
    .map(([key, value]) => `${key}=${escaped(value)}\n`)
    .join('');
}

/** Java reads the file as Latin-1, treats a backslash as an escape, and drops spaces before a value. */
function escaped(value: string): string {
  return value
    .replaceAll('\\', '\\\\')
    .replaceAll(/^ |[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** PEM texts of one party to TLS connections. */
export interface TlsIdentity {
  /** The authority that signed this party and those it trusts. */
  readonly ca: string;
  readonly cert: string;
  /** PKCS #8, not encrypted. */
  readonly key: string;
}

export interface KafkaSecurity {
  readonly tls: TlsIdentity;
  readonly username: string;
  readonly password: string;
  /** The port of a second listener, where the client's certificate is its login. */
  readonly mutualTlsPort: number;
  /** Users with the same password and only the rights of their ACLs; the one above may do everything. Absent: so may everyone. */
  readonly limitedUsers?: readonly string[];
}

/** The user between the broker and itself: no client's configuration has the name. */
const BROKER_USER = 'broker';

/** A node that accepts only TLS clients: with SASL on the broker's port, with a certificate on the other. */
export function securedListeners(ports: BrokerPorts, security: KafkaSecurity): Record<string, string> {
  const { tls, username, password, mutualTlsPort, limitedUsers = [] } = security;
  const sasl = `SASL_SSL://127.0.0.1:${String(ports.broker)}`;
  const mutual = `SSL://127.0.0.1:${String(mutualTlsPort)}`;
  const plainLogin = 'org.apache.kafka.common.security.plain.PlainLoginModule';
  const scramLogin = 'org.apache.kafka.common.security.scram.ScramLoginModule';
  const tokenLogin = 'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule';
  const users = [BROKER_USER, username, ...limitedUsers].map((user) => `user_${user}="${password}"`).join(' ');
  return {
    listeners: `${sasl},${mutual},CONTROLLER://127.0.0.1:${String(ports.controller)}`,
    'advertised.listeners': `${sasl},${mutual}`,
    'listener.security.protocol.map': 'SASL_SSL:SASL_SSL,SSL:SSL,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'SASL_SSL',
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER',
    'listener.name.sasl_ssl.plain.sasl.jaas.config': `${plainLogin} required username="${BROKER_USER}" password="${password}" ${users};`,
    'listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config': `${scramLogin} required;`,
    'listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config': `${scramLogin} required;`,
    // The broker's own check of unsigned tokens: their subject, and whether they have expired.
    'listener.name.sasl_ssl.oauthbearer.sasl.jaas.config': `${tokenLogin} required;`,
    'listener.name.ssl.ssl.client.auth': 'required',
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.certificate.chain': tls.cert,
    'ssl.keystore.key': tls.key,
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.certificates': tls.ca,
    // A failed login gets a response at once, which tests wait for.
    'connection.failed.authentication.delay.ms': '0',
    ...(security.limitedUsers === undefined ? {} : authorizer(username)),
  };
}

/** The controller's listener has no login, and is on the loopback interface. */
function authorizer(superUser: string): Record<string, string> {
  return {
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': [BROKER_USER, superUser, 'ANONYMOUS'].map((user) => `User:${user}`).join(';'),
  };
}

/** SCRAM users are records in the cluster's own log, so they are created when it is formatted. */
export function scramUsers({ username, password }: KafkaSecurity): string[] {
  return ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
    '--add-scram',
    `${mechanism}=[name=${username},password=${password}]`,
  ]);
}
