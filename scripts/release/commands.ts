import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Runs a command in the root of the repository. Returns its standard output.
 * @throws Error with all that it said, where it does not end with 0
 */
export function run(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): string {
  const options = { cwd: ROOT, encoding: 'utf8', maxBuffer: 1e9, env: { ...process.env, ...env } } as const;
  const { status, stdout, stderr, error } = spawnSync(command, args, options);
  if (status === 0) return stdout;
  throw new Error(
    `${command} ${args.join(' ')}: ${error?.message ?? `ended with ${status}`}\n${stdout}${stderr}`,
  );
}
