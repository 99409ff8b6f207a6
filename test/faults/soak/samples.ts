import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { consumerGroups } from '@waypost/contracts';
import { openGroupProgress } from '@waypost/platform/without-nest';
import type { KafkaSettings } from '@waypost/streams';
import { type SoakInstance, SPARED_FROM } from './stage.js';

/** What was measured at one time. */
export interface Sample {
  /** From the start of the run. */
  readonly atMs: number;
  /** Of the instances that no fault of a process meets, by application. */
  readonly residentMiB: Readonly<Record<string, number>>;
  readonly handles: Readonly<Record<string, number>>;
  /** Records that are not finished, by group; absent while no broker answers. */
  readonly lag: Readonly<Record<string, number>>;
}

const GROUPS = [
  ...[consumerGroups.telemetryProcessor, consumerGroups.fanOut, consumerGroups.sender],
  ...[consumerGroups.historyProjector, consumerGroups.pathProjector],
];

export interface SamplerOptions {
  readonly kafka: KafkaSettings;
  readonly instances: readonly SoakInstance[];
  readonly everyMs: number;
}

/** Measures until the signal is aborted. */
export async function takeSamples(options: SamplerOptions, signal: AbortSignal): Promise<Sample[]> {
  const { kafka, instances, everyMs } = options;
  const startedAt = performance.now();
  const samples: Sample[] = [];
  const spared = instances.filter(({ instance }) => instance.instance >= SPARED_FROM);
  while (!signal.aborted) {
    const measured = spared.flatMap(({ app, instance }) => {
      const usage = usageNow(instance.pid());
      return usage === null ? [] : [{ app, ...usage }];
    });
    const lag = await lagNow(kafka).catch(() => ({}));
    samples.push({
      atMs: Math.round(performance.now() - startedAt),
      residentMiB: Object.fromEntries(measured.map(({ app, residentMiB }) => [app, residentMiB])),
      handles: Object.fromEntries(measured.map(({ app, handles }) => [app, handles])),
      lag,
    });
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
  return samples;
}

/** Linux only; null: the process has ended. */
function usageNow(pid: number | undefined): { readonly residentMiB: number; readonly handles: number } | null {
  if (pid === undefined) return null;
  const folder = `/proc/${String(pid)}`;
  try {
    const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`${folder}/status`, 'latin1'))?.[1];
    return { residentMiB: Math.round(Number(resident) / 1_024), handles: readdirSync(`${folder}/fd`).length };
  } catch {
    return null;
  }
}

async function lagNow(kafka: KafkaSettings): Promise<Record<string, number>> {
  const reader = await openGroupProgress(kafka);
  try {
    const lag: Record<string, number> = {};
    for (const { groupId, startOffset, endOffset, committedOffset } of await reader.read(GROUPS))
      lag[groupId] = (lag[groupId] ?? 0) + endOffset - (committedOffset ?? startOffset);
    return lag;
  } finally {
    await reader.close();
  }
}
