import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { StackError } from './stack-error.js';

const run = promisify(execFile);

/** What the machine has; a version text is undefined when the program is missing. */
export interface MachineFacts {
  readonly nodeVersion: string;
  readonly javaVersion: () => Promise<string | undefined>;
  readonly mavenVersion: () => Promise<string | undefined>;
}

export interface Needs {
  readonly java: boolean;
  readonly maven: boolean;
}

/**
 * The first missing prerequisite, as one sentence with the fix.
 * @throws StackError `prerequisite_missing`
 */
export async function assertPrerequisites(needs: Needs, facts: MachineFacts): Promise<void> {
  if (!isAtLeast(facts.nodeVersion, [20, 19])) {
    throw missing(`Node.js 20.19 or newer is needed, but this is ${facts.nodeVersion}: install a newer one.`);
  }
  if (needs.java) await assertJava(facts);
  if (needs.maven && (await facts.mavenVersion()) === undefined) {
    throw missing(
      'Maven is needed to download Kafka and the schema registry, but there is no "mvn" on the PATH: install it.',
    );
  }
}

async function assertJava(facts: MachineFacts): Promise<void> {
  const output = await facts.javaVersion();
  if (output === undefined) {
    throw missing(
      'Java 17 or newer is needed for Kafka and the schema registry, but there is no "java" on the PATH: install it.',
    );
  }
  const major = javaMajorVersion(output);
  if (major === undefined || major < 17) {
    throw missing(
      `Java 17 or newer is needed, but "java" is ${String(major ?? 'unknown')}: install a newer one or set JAVA_HOME.`,
    );
  }
}

function missing(message: string): StackError {
  return new StackError('prerequisite_missing', message);
}

export function machineFacts(java: string): MachineFacts {
  return {
    nodeVersion: process.version,
    javaVersion: () => firstOutput(java, ['-version']),
    mavenVersion: () => firstOutput('mvn', ['-v']),
  };
}

async function firstOutput(file: string, args: string[]): Promise<string | undefined> {
  try {
    // Java prints its version on standard error.
    const { stdout, stderr } = await run(file, args);
    return stdout + stderr;
  } catch {
    return undefined;
  }
}

/** The `java` of JAVA_HOME, or else the one on the PATH. */
export function javaProgram(javaHome: string | undefined): string {
  return javaHome === undefined || javaHome === '' ? 'java' : join(javaHome, 'bin', 'java');
}

/** `17` of `openjdk version "17.0.15"`, `8` of `java version "1.8.0_392"`; undefined when there is none. */
export function javaMajorVersion(output: string): number | undefined {
  const found = /version "(?:1\.)?(\d+)/.exec(output)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Whether `version` (`v20.19.1` or `20.19.1`) is at least `major.minor`. */
export function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [, foundMajor, foundMinor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  if (foundMajor === undefined) return false;
  return Number(foundMajor) > major || (Number(foundMajor) === major && Number(foundMinor) >= minor);
}
