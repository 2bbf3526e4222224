import { parseWitnessPolicy, TallyError, type WitnessPolicy } from '@tallystick/core';
import type { Command } from 'commander';
import { nameOf, readBytes } from './input.ts';
import { remark, UsageError } from './output.ts';

/** Adds the option `--witness-policy`. */
export function witnessPolicyOption(command: Command): Command {
  return command.option(
    '--witness-policy <file>',
    'witnesses that must have cosigned the log’s checkpoint (C2SP tlog-policy)',
  );
}

/** Reads the policy in a file, and remarks on keys in it that never count. @throws UsageError */
export async function readWitnessPolicy(path: string | undefined): Promise<WitnessPolicy | undefined> {
  if (path === undefined) return undefined;
  try {
    const policy = parseWitnessPolicy(await readBytes(path));
    for (const finding of policy.findings) remark(`${nameOf(path)}: ${finding}`);
    return policy;
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    throw new UsageError(`${nameOf(path)}: ${error.message}`, { code: error.code, cause: error });
  }
}
