import {
  apiKeyOption,
  type Command,
  headerOption,
  operatorCommand,
  urlOption,
} from '@tallystick/cli/toolkit';
import type { NormalizeOptions } from '../rosetta/normalize.ts';

/** `tally rosetta`: expresses a policy for other jurisdictions. */
export function rosettaCommands(program: Command): void {
  const rosetta = operatorCommand(program, 'rosetta').description(
    'Compares a policy with a curated table of laws. A pilot for partners, and not legal advice: each entry of the table says whether a person has checked it.',
  );
  rosetta
    .command('normalize')
    .summary('express a policy for other jurisdictions')
    .description(
      'Lists for each jurisdiction what maps, what is stricter there, what has no equivalent and what a person must decide. Checks the receipt that comes with the answer.',
    )
    .argument('<file>', 'the policy, as JSON (docs/rosetta.md); - for standard input')
    .option(
      '--to <jurisdictions>',
      'the jurisdictions, separated by commas (default: the targets in the file)',
      list,
    )
    .addOption(urlOption())
    .addOption(apiKeyOption())
    .option('--out <file>', 'write the answer to a file, byte for byte')
    .option('--receipt <file>', 'write its receipt to a file')
    .addOption(headerOption('--idempotency-key <key>', 'the same key and request give the same answer'))
    .option('--json', 'the answer, as JSON')
    .addHelpText('after', HELP)
    .action(async (file: string, options: NormalizeOptions) =>
      (await import('../rosetta/normalize.ts')).runNormalize(file, options),
    );
}

const list = (text: string): string[] => text.split(',').map((one) => one.trim());

const HELP = `
Example:
  $ tally rosetta normalize policy.json --to uk,in
  with policy.json:
    {"jurisdiction": "eu", "policy": [{"concept": "retention", "days": 400}]}`;
