import { type Command, InvalidArgumentError, Option, operatorCommand } from '@tallystick/cli/toolkit';
import type { CompressSettings } from '../compress/run.ts';

/** `tally compress`: fewer tokens of the same context, without a network and without a model. */
export function compressCommand(program: Command): void {
  operatorCommand(program, 'compress')
    .description(
      'Compresses a chat completion request, its messages, or a text as a tool would have given it. What comes out is of the same form. System and assistant turns, code, diffs and schemas stay byte for byte.',
    )
    .argument('<file>', 'JSON of a request or of messages, or any text; - for standard input')
    .addOption(
      new Option(
        '--tier <tier>',
        'lossless, extractive (cuts what the question does not need), or bm25 (the baseline)',
      )
        .choices(['lossless', 'extractive', 'bm25'])
        .default('lossless'),
    )
    .option('--budget <n>', 'of a tier that cuts: tokens that may be left, or a share such as 0.25', budget)
    .option('--query <text>', 'what the context is read for (default: the last user message)')
    .option('--model <name>', 'whose tokens are counted (default: o200k_base)')
    .option('--explain', 'show what was changed, and what each method saved, in place of the result')
    .option('--json', 'the result with its account and its blocks, as JSON')
    .addHelpText('after', HELP)
    .action(async (file: string, options: CompressSettings) =>
      (await import('../compress/run.ts')).runCompress(file, options),
    );
}

function budget(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value < Number.POSITIVE_INFINITY))
    throw new InvalidArgumentError('A number of tokens, or a share between 0 and 1, is needed.');
  return value;
}

const HELP = `
Examples:
  $ tally compress request.json > smaller.json
  $ tally compress result.json --explain
  $ tally compress chat.txt --tier extractive --budget 0.25 \\
      --query 'When did Ana move?' --explain`;
