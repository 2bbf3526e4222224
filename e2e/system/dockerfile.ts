import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What a container of the image runs, and as whom. */
interface ImageSettings {
  readonly entrypoint: readonly string[];
  /** What the entry point is given unless somebody says otherwise. */
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** `<user id>:<group id>`. */
  readonly user: string;
  readonly workdir: string;
}

/** Reads what the last stage of the Dockerfile says. */
export function imageSettings(): ImageSettings {
  const text = readFileSync(fileURLToPath(new URL('../../Dockerfile', import.meta.url)), 'utf8');
  const last = text.slice(text.lastIndexOf('\nFROM '));
  const said = (pattern: RegExp): string => pattern.exec(last)?.[1] ?? '';
  const list = (pattern: RegExp): readonly string[] => JSON.parse(said(pattern));
  const env = said(/^ENV (.+)$/m).split(' ');
  return {
    entrypoint: list(/^ENTRYPOINT (.+)$/m),
    command: list(/^CMD (.+)$/m),
    healthcheck: list(/^HEALTHCHECK .*?CMD (.+)$/m),
    env: Object.fromEntries(env.map((pair) => pair.split('='))),
    user: said(/^USER (.+)$/m),
    workdir: said(/^WORKDIR (.+)$/m),
  };
}
