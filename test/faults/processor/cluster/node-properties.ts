import { brokerProperties } from '../../../../tools/dev-stack/kafka/broker-properties.js';

/** The way of one processor instance to one broker. */
export interface LinkPorts {
  /** Where the broker listens. */
  readonly broker: number;
  /** Where the proxy listens: what the broker tells its clients. */
  readonly proxy: number;
}

export interface NodePlan {
  readonly id: number;
  readonly roles: 'broker,controller' | 'broker' | 'controller';
  readonly controllerPort: number;
  /** For other brokers, the publisher and the judge; it is never disturbed. */
  readonly port: number;
  /** By instance: each comes in on a listener of its own, so each has a network of its own. */
  readonly links: readonly LinkPorts[];
  readonly replicas: number;
  readonly logDir: string;
}

const at = (port: number): string => `127.0.0.1:${String(port)}`;

export function nodeProperties(plan: NodePlan): Record<string, string> {
  const { id, roles, controllerPort, port, links, replicas, logDir } = plan;
  const isBroker = roles !== 'controller';
  const linkListeners = links.map((link, index) => ({ name: `LINK${String(index)}`, ...link }));
  const names = ['CONTROLLER', ...(isBroker ? ['PLAINTEXT', ...linkListeners.map(({ name }) => name)] : [])];
  const brokerListeners = isBroker
    ? [`PLAINTEXT://${at(port)}`, ...linkListeners.map((link) => `${link.name}://${at(link.broker)}`)]
    : [];
  const controllerListeners = roles === 'broker' ? [] : [`CONTROLLER://${at(controllerPort)}`];
  const advertised = [
    `PLAINTEXT://${at(port)}`,
    ...linkListeners.map((link) => `${link.name}://${at(link.proxy)}`),
  ].join(',');
  const properties = {
    ...brokerProperties({ broker: port, controller: controllerPort }, logDir),
    'process.roles': roles,
    'node.id': String(id),
    listeners: [...brokerListeners, ...controllerListeners].join(','),
    'advertised.listeners': advertised,
    'listener.security.protocol.map': names.map((name) => `${name}:PLAINTEXT`).join(','),
    'num.network.threads': '1',
    ...replication(replicas),
  };
  return isBroker ? properties : withoutBrokerSettings(properties);
}

function replication(replicas: number): Record<string, string> {
  if (replicas === 1) return {};
  return {
    'default.replication.factor': String(replicas),
    'offsets.topic.replication.factor': String(replicas),
    'transaction.state.log.replication.factor': String(replicas),
    'min.insync.replicas': '2',
    'transaction.state.log.min.isr': '2',
    'replica.lag.time.max.ms': '5000',
  };
}

function withoutBrokerSettings(properties: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(properties).filter(
      ([key]) => key !== 'advertised.listeners' && key !== 'inter.broker.listener.name',
    ),
  );
}
