import { rm } from 'node:fs/promises';
import {
  type DataDir,
  type DevStack,
  type ManagedProcess,
  openDataDir,
  type StackReporter,
  startDevStack,
} from '../index.js';
import { assertFree, chooseApiPort, withPort } from './api-port.js';
import { instanceEnvironment, stackEnvironment, stackKeys } from './app-environment.js';
import { type AppProcessContext, createAppProcess } from './app-process.js';
import { APP_NICENESS, type Programs } from './programs.js';
import { createStackFile, type StackFile } from './stack-file.js';
import type { Environment, StartConfig } from './start-config.js';
import { APP_NAMES, type AppName, type StartFlags } from './start-flags.js';

export interface SupervisorOptions {
  readonly flags: StartFlags;
  readonly config: StartConfig;
  readonly programs: Programs;
  /** Runs once between the parts and the applications; not waited for once the signal is aborted. */
  readonly setUp: (stack: DevStack, topics: StartConfig['topics'], signal: AbortSignal) => Promise<void>;
  readonly reporter: StackReporter;
  /** Receives what the demo subscriber prints. */
  readonly onDemoOutput: (text: string) => void;
}

/** A process of an application, and its admin address. */
export interface Instance {
  readonly app: AppName;
  readonly process: ManagedProcess;
  readonly adminUrl: string;
}

export interface RunningStack {
  readonly dataDir: DataDir;
  readonly apiUrl: string;
  /** Meaningless if the environment configures another one. */
  readonly adminKey: string;
  readonly instances: readonly Instance[];
}

/**
 * Starts everything, calls `onReady`, and keeps it running until `signal` is aborted; then everything is stopped:
 * demo, applications, registry, Kafka, database. A start that fails or is interrupted leaves nothing running.
 */
export async function superviseStack(
  options: SupervisorOptions,
  signal: AbortSignal,
  onReady: (running: RunningStack) => void,
): Promise<void> {
  const { flags, config, reporter } = options;
  const dataDir = await openDataDir(flags.dataDir);
  const stackFile = createStackFile(dataDir, (error) => {
    reporter.note(`stack.json cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  });
  await rm(dataDir.file('stack.json'), { force: true });

  const apps: ManagedProcess[] = [];
  const demo: ManagedProcess[] = [];
  // Used while they start; afterwards they are stopped in order.
  const stopEarly = (): void => void stopAll([...demo, ...apps]);
  signal.addEventListener('abort', stopEarly);
  let stack: DevStack | undefined;
  try {
    const { refresh: onReplaced } = stackFile;
    await assertFree(flags.port);
    stack = await startDevStack({ dataDir, env: config.env, external: config.external, reporter, signal, onReplaced });
    const context: AppProcessContext = { dataDir, guardian: stack.guardian, reporter, onReplaced };
    const running = await startAll({ options, stack, context, stackFile, apps, demo, signal });
    signal.removeEventListener('abort', stopEarly);
    onReady(running);
    await untilAborted(signal);
  } catch (error) {
    // An interrupted start fails in many ways, none of which matters.
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', stopEarly);
    await stackFile.remove();
    await stopAll(demo);
    await stopAll(apps);
    await stack?.stop();
    await dataDir.release();
  }
}

interface StartContext {
  readonly options: SupervisorOptions;
  readonly stack: DevStack;
  readonly context: AppProcessContext;
  readonly stackFile: StackFile;
  /** Filled before the processes start, so that they can be stopped. */
  readonly apps: ManagedProcess[];
  readonly demo: ManagedProcess[];
  readonly signal: AbortSignal;
}

async function startAll(start: StartContext): Promise<RunningStack> {
  const { options, stack, context, stackFile, apps, demo, signal } = start;
  const { flags, config, reporter } = options;
  await reporter.during('Creating topics, schemas and tables', () =>
    Promise.race([
      options.setUp(stack, config.topics, signal),
      untilAborted(signal).then(() => signal.throwIfAborted()),
    ]),
  );

  const keys = await stackKeys(context.dataDir);
  const shared = stackEnvironment(config.env, stack, keys);
  const port = await chooseApiPort(context.dataDir, flags.port);
  const instances = await createInstances(options, context, shared, port);
  apps.push(...instances.map((instance) => instance.process));
  await reporter.during('Starting the applications', () => startEach(apps));
  signal.throwIfAborted();

  const apiUrl = `http://127.0.0.1:${String(port)}`;
  await stackFile.publish(() => ({
    brokers: stack.kafka.brokers,
    registryUrl: stack.registryUrl,
    databaseUrl: stack.databaseUrl,
    apiUrl,
    adminUrls: instances.map(({ adminUrl }) => adminUrl),
    pids: { ...stack.pids(), ...pidsByApp(instances), ...pidsByName(demo) },
  }));
  if (flags.demo) {
    demo.push(...createDemo(options, context, { ...shared, WAYPOST_API_URL: apiUrl }));
    // The subscriber starts first, so that it sees the fleet's first events.
    for (const part of demo) await part.start();
  }
  signal.throwIfAborted();
  return { dataDir: context.dataDir, apiUrl, adminKey: keys.adminKey, instances };
}

async function createInstances(
  { flags, programs }: SupervisorOptions,
  context: AppProcessContext,
  shared: Environment,
  port: number,
): Promise<Instance[]> {
  const places: { app: AppName; name: string; adminPort: number; adminUrl: string; ownPort: number }[] = [];
  for (const app of APP_NAMES) {
    for (let number = 0; number < flags.instances[app]; number += 1) {
      const name = `${app}-${String(number)}`;
      const adminPort = await context.dataDir.port(name);
      const ownPort = number === 0 ? port : await context.dataDir.port(`${name}-api`);
      places.push({ app, name, adminPort, adminUrl: `http://127.0.0.1:${String(adminPort)}`, ownPort });
    }
  }
  const adminUrls = places.map(({ adminUrl }) => adminUrl);
  return places.map(({ app, name, adminPort, adminUrl, ownPort }) => {
    const ports = { adminPort, ...(app === 'public-api' && { adminUrls, port: ownPort }) };
    const env = instanceEnvironment(shared, name, ports);
    const process = createAppProcess({
      ...context,
      name,
      program: programs.apps[app],
      env,
      adminPort,
      niceness: APP_NICENESS[app],
    });
    const isApi = app === 'public-api' && ownPort === port;
    return { app, process: isApi ? withPort(process, port) : process, adminUrl };
  });
}

function createDemo(
  { programs, onDemoOutput }: SupervisorOptions,
  context: AppProcessContext,
  env: Environment,
): ManagedProcess[] {
  const args = ['--data-dir', context.dataDir.path];
  return [
    createAppProcess({
      ...context,
      name: 'demo-subscriber',
      program: programs.demoSubscriber,
      args,
      env,
      onOutput: onDemoOutput,
    }),
    createAppProcess({ ...context, name: 'simulator', program: programs.simulator, args, env }),
  ];
}

/** Waits for all even if one fails, so that none is still starting when they are stopped. */
async function startEach(processes: readonly ManagedProcess[]): Promise<void> {
  const results = await Promise.allSettled(processes.map((process_) => process_.start()));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

async function stopAll(processes: readonly ManagedProcess[]): Promise<void> {
  await Promise.all(processes.map((process_) => process_.stop()));
}

function pidsByApp(instances: readonly Instance[]): Record<string, number[]> {
  const pids: Record<string, number[]> = {};
  for (const {
    app,
    process: { pid },
  } of instances)
    (pids[app] ??= []).push(...[pid()].filter((id) => id !== undefined));
  return pids;
}

function pidsByName(processes: readonly ManagedProcess[]): Record<string, number[]> {
  return Object.fromEntries(processes.map(({ name, pid }) => [name, [pid()].filter((id) => id !== undefined)]));
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });
}
