import { type Command, InvalidArgumentError, Option, operatorCommand } from '@tallystick/cli/toolkit';
import type { CompressSettings } from '../compress/run.ts';

/** `tally compress`: shortens a context, without a network or a model. */
export function compressCommand(program: Command): void {
  operatorCommand(program, 'compress')
    .description(
      'Compresses a chat completion request, its messages, or a text such as a tool returns. The output has the same form as the input. System and assistant turns, code, diffs and schemas stay byte for byte.',
    )
    .argument('<file>', 'JSON of a request or of messages, or any text; - for standard input')
    .addOption(
      new Option('--tier <tier>', 'lossless, or extractive (cuts what the question does not need)')
        .choices(['lossless', 'extractive'])
        .default('lossless'),
    )
    .option(
      '--budget <n>',
      'for a tier that cuts: how many tokens may remain, or a share such as 0.25',
      budget,
    )
    .option('--code', 'let code be cut too, by whole functions whose names stay')
    .option('--query <text>', 'what the context is read for (default: the last user message)')
    .option('--model <name>', 'the tokenizer that counts (default: o200k_base)')
    .option('--explain', 'show what was changed and what each method saved, instead of the result')
    .option('--json', 'the result, the account of what was saved, and the cut blocks, as JSON')
    .addHelpText('after', HELP)
    .action(async (file: string, options: CompressSettings) =>
      (await import('../compress/run.ts')).runCompress(file, options),
    );
}

function budget(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value < Number.POSITIVE_INFINITY))
    throw new InvalidArgumentError('Expected a number of tokens, or a share between 0 and 1.');
  return value;
}

const HELP = `
Examples:
  $ tally compress request.json > smaller.json
  $ tally compress result.json --explain
  $ tally compress chat.txt --tier extractive --budget 0.25 \\
      --query 'When did Ana move?' --explain`;
