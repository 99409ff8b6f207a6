import { cpus, release, totalmem, type } from 'node:os';

/** The machine that a benchmark ran on. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
}

export function readMachine(): Machine {
  const [first] = cpus();
  return {
    cpu: first?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 1_024 ** 3),
    system: `${type()} ${release()}`,
    node: process.version.replace(/^v/, ''),
  };
}

export function machineText({ cpu, cores, memoryGiB, system, node }: Machine): string {
  return `${cpu}, ${String(cores)} cores, ${String(memoryGiB)} GiB, ${system}, Node ${node}`;
}
