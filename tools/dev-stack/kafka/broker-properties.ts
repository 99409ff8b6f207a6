export interface BrokerPorts {
  readonly broker: number;
  readonly controller: number;
}

/**
 * A single node that is broker and controller. Key by key as in `server.properties`; `secured` replaces the plain
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
    // Topics are declared in one place and created from there; a misspelt name must fail, not come into being.
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
    // A killed broker cannot register again before its old session is over, which is 9 s by default.
    'broker.session.timeout.ms': '3000',
    'broker.heartbeat.interval.ms': '500',
    'log.cleaner.backoff.ms': '2000',
    'log.cleaner.dedupe.buffer.size': '33554432',
    ...secured,
  };
}

export function propertiesText(properties: Readonly<Record<string, string>>): string {
  return Object.entries(properties)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}
