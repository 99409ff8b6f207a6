import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { projectFile } from '../../tools/dev-stack/project-root.js';
import { type Machine, readMachine } from '../shared/report/machine.js';

/** What a reader must know of the machine to judge a figure. */
export interface MachineFacts extends Machine {
  readonly java: string;
  readonly broker: string;
  readonly kafkaStreams: string;
}

export async function machineFacts(java: string): Promise<MachineFacts> {
  return {
    ...readMachine(),
    java: await javaVersion(java),
    broker: pomVersion('tools/dev-stack/kafka/pom.xml', /<artifactId>kafka_2\.13<\/artifactId>\s*<version>([^<]+)</),
    kafkaStreams: pomVersion('bench/processor/kafka-streams/pom.xml', /<kafka\.version>([^<]+)</),
  };
}

async function javaVersion(java: string): Promise<string> {
  // On standard error: `openjdk version "17.0.15" 2025-04-15`.
  const { stderr } = await promisify(execFile)(java, ['-version']);
  return /version "([^"]+)"/.exec(stderr)?.[1] ?? 'unknown';
}

function pomVersion(file: string, pattern: RegExp): string {
  return pattern.exec(readFileSync(projectFile(file), 'utf8'))?.[1] ?? 'unknown';
}
