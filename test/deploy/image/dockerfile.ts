/** A COPY of the last stage: what an earlier stage made, and where it is in the image. */
export interface ImageCopy {
  readonly stage: string;
  readonly sources: readonly string[];
  readonly target: string;
}

export interface ImageRecipe {
  readonly copies: readonly ImageCopy[];
  /** Of the last stage. */
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly workDir: string;
  readonly entryPoint: readonly string[];
  readonly healthCheck: readonly string[];
  readonly ports: readonly number[];
  /** Arguments of the "npm ci" that the stage of this name runs. */
  installOf(stage: string): readonly string[];
}

/** As much of a Dockerfile as ours uses. @throws Error for an instruction of the last stage that is not known here */
export function readDockerfile(text: string): ImageRecipe {
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')) + 1);
  const of = (instruction: string): string[] =>
    last.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length + 1));
  const known = ['COPY', 'ENV', 'USER', 'WORKDIR', 'ENTRYPOINT', 'HEALTHCHECK', 'EXPOSE', 'LABEL'];
  const strange = last.filter((line) => !known.includes(line.split(' ')[0] ?? ''));
  if (strange.length > 0) throw new Error(`The last stage has an instruction that is not understood: ${strange[0]}`);
  return {
    copies: of('COPY').map(readCopy),
    env: Object.fromEntries(of('ENV').flatMap((line) => line.split(/ +/).map((pair) => pair.split('=')))),
    user: of('USER')[0] ?? '',
    workDir: of('WORKDIR')[0] ?? '',
    entryPoint: listIn(of('ENTRYPOINT')[0]),
    healthCheck: listIn(of('HEALTHCHECK')[0]),
    ports: (of('EXPOSE')[0] ?? '').split(' ').map(Number),
    installOf: (stage) => installOf(lines, stage),
  };
}

function readCopy(line: string): ImageCopy {
  const words = line.split(/ +/);
  const stage = words.find((word) => word.startsWith('--from='))?.slice('--from='.length) ?? '';
  const paths = words.filter((word) => !word.startsWith('--'));
  return { stage, sources: paths.slice(0, -1), target: paths.at(-1) ?? '' };
}

function listIn(line = ''): string[] {
  return JSON.parse(/\[.*\]/.exec(line)?.[0] ?? '[]') as string[];
}

function installOf(lines: readonly string[], stage: string): string[] {
  const begin = lines.findIndex((line) => line.startsWith('FROM ') && line.endsWith(` AS ${stage}`));
  const install = lines.slice(begin).find((line) => line.startsWith('RUN npm ci'));
  const [command = ''] = (install ?? '').replace('RUN npm ', '').split('&&');
  return command.trim().split(/ +/);
}
