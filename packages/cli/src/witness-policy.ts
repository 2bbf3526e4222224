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
  return path === undefined ? undefined : (await readPolicyFile(path)).policy;
}

/** As `readWitnessPolicy`, with the bytes of the file. */
export async function readPolicyFile(
  path: string,
): Promise<{ readonly bytes: Uint8Array; readonly policy: WitnessPolicy }> {
  const bytes = await readBytes(path);
  try {
    const policy = parseWitnessPolicy(bytes);
    for (const finding of policy.findings) remark(`${nameOf(path)}: ${finding}`);
    return { bytes, policy };
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    throw new UsageError(`${nameOf(path)}: ${error.message}`, { code: error.code, cause: error });
  }
}
