import { type Command, type Exit, operatorCommand, UsageError } from '@tallystick/cli/toolkit';
import type { ImportOptions } from '../catalogue/import.ts';
import type { ReconcileOptions } from '../catalogue/reconcile.ts';

/** `tally catalogue`: the models and prices of the service on this machine. */
export function catalogueCommands(program: Command, finish: (exit: Exit) => void): void {
  const catalogue = operatorCommand(program, 'catalogue').description(
    'The models that the service on this machine offers, and what they cost.',
  );
  catalogue
    .command('import')
    .summary('take prices from a price list')
    .description(
      'Compares LiteLLM’s price list (model_prices_and_context_window.json) or OpenRouter’s (GET /models) with the catalogue, and shows what would change: prices, tariffs and the days on which models are shut down. With --yes it writes that into the configuration file. Only models of the catalogue are compared; --add takes others too.',
    )
    .argument('<from>', 'a file, an https:// URL, or - for standard input')
    .option('--config <file>', 'the configuration file (default: the one that TALLY_CONFIG names)')
    .option('--add <models...>', 'also add these: an id such as openai/gpt-6-luna, or groq/* for all')
    .option(
      '--read-on <day>',
      'the day on which the list was read (default: today; of a file, its last change)',
      day,
    )
    .option('--yes', 'write the changes')
    .option('--dry-run', 'only show the changes, with exit status 0')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (from: string, options: ImportOptions) =>
      finish(await (await import('../catalogue/import.ts')).importPrices(from, options)),
    );

  catalogue
    .command('reconcile')
    .summary('check an invoice against the books')
    .description(
      'Adds up a provider’s invoice or usage export (CSV with a day, a model and an amount of dollars in each line) by model and day, and compares it with what the ledger books to the provider. Exit status 1 if they differ.',
    )
    .argument('<provider>', 'the provider’s name in the catalogue, such as openai')
    .argument('<file>', 'the CSV file, or - for standard input')
    .option(
      '--column <member=name>',
      'the name of the column for day, model or amount; may be repeated',
      column,
      {},
    )
    .option('--tolerance <percent>', 'the difference that is not shown (default: 1)', percent)
    .option('--json', 'as JSON')
    .action(async (provider: string, file: string, options: ReconcileOptions) =>
      finish(await (await import('../catalogue/reconcile.ts')).reconcileInvoice(provider, file, options)),
    );
}

function column(text: string, before: ReconcileOptions['column']): ReconcileOptions['column'] {
  const [, member, name] = /^(day|model|amount)=(.+)$/.exec(text) ?? [];
  if (member === undefined)
    throw new UsageError('A column is given as day=<name>, model=<name> or amount=<name>.');
  return { ...before, [member]: name };
}

function percent(text: string): number {
  if (/^\d{1,3}(\.\d{1,2})?$/.test(text) && Number(text) <= 100) return Number(text);
  throw new UsageError('The tolerance is a number from 0 to 100, with at most two decimals.');
}

function day(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new UsageError('A day is written as 2026-11-23.');
}

const HELP = `
Exit status:
  0  nothing is to be changed, or the changes are written
  1  there are changes, and --yes was not given
  2  wrong usage, or a list or file that can't be read

Examples:
  $ tally catalogue import model_prices_and_context_window.json --dry-run
  $ tally catalogue import https://openrouter.ai/api/v1/models \\
      --add 'openrouter/anthropic/*' --yes`;
