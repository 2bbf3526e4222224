import { type Command, type Exit, operatorCommand, UsageError } from '@tallystick/cli/toolkit';
import { isDid } from '@tallystick/core';
import { rowLimit } from './rows.ts';

const MAX_TEXT = 200;

/** `tally ledger`: the prepaid balances and the books of the service on this machine. */
export function ledgerCommands(program: Command, finish: (code: Exit) => void): void {
  const ledger = operatorCommand(program, 'ledger').description(
    'What callers have paid and spent, in USDC. Works on the data of the service on this machine, also while it runs. A caller is the id of an API key (key_…) or a DID.',
  );

  ledger
    .command('credit')
    .summary('credit what a caller paid in')
    .description(
      'Credits a caller; the balance counts from the next request on. The same reference is credited only once.',
    )
    .argument('<caller>', 'the id of an API key (tally apikey list), or a DID', caller)
    .argument('<usdc>', 'the amount, such as 25 or 0.5')
    .option(
      '--reference <text>',
      'identifies the payment, such as a transaction hash; without it, every run credits again',
      text,
    )
    .option('--memo <text>', 'the text for the statement', text)
    .option('--json', 'as JSON')
    .addHelpText('after', CREDIT_HELP)
    .action(
      async (who: string, amount: string, options: { reference?: string; memo?: string; json?: boolean }) =>
        (await import('../ledger.ts')).credit(who, amount, options),
    );

  ledger
    .command('balance')
    .summary('show the balance of an account')
    .description('Shows the balance of an account, and how much of it is reserved for calls in progress.')
    .argument('<account>', ACCOUNT, account)
    .option('--json', 'as JSON')
    .action(async (name: string, options: { json?: boolean }) =>
      (await import('../ledger.ts')).balance(name, options),
    );

  ledger
    .command('statement')
    .summary('list the entries of an account')
    .description(
      'Lists line, time, amount, balance, memo and posting; for a call, the model and the id of its receipt.',
    )
    .argument('<account>', ACCOUNT, account)
    .option('--after <line>', 'from the line after this one, instead of the newest', lineNumber)
    .option('--limit <count>', 'maximum number of entries (default: 50)', rowLimit)
    .option('--json', 'as JSON')
    .action(async (name: string, options: { after?: number; limit?: number; json?: boolean }) =>
      (await import('../ledger.ts')).statement(name, options),
    );

  ledger
    .command('check')
    .summary('check that the books balance')
    .description('Recomputes every sum: postings, balances and reservations. Exit status 1 if one is wrong.')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) =>
      finish(await (await import('../ledger.ts')).check(options)),
    );

  ledger
    .command('reconcile')
    .summary('check that ledger and chain agree')
    .description(
      'Compares the books with the chain: every transfer from and to the treasury has its posting, every posting its transfer, and the balances are equal. Transfers that are not confirmed yet count as pending. Goes on after the blocks of the last comparison. Exit status 1 if they differ.',
    )
    .option('--all', 'compare everything again, from the first block that was watched')
    .option('--own <tx>', 'first book this transaction, with which you took money out by hand', transaction)
    .option('--json', 'as JSON')
    .action(async (options: { all?: boolean; own?: string; json?: boolean }) =>
      finish(await (await import('../reconcile.ts')).reconcile(options)),
    );
}

const ACCOUNT =
  'a caller, or external, owner, revenue, refunds, withdrawals, development, provider:<name> or chain:<network>';

const CREDIT_HELP = `
Example:
  $ tally ledger credit key_4fmx07q2zk81ab9c 25 --reference "invoice 117"`;

/** The message does not repeat the input, which may be a key. */
function caller(name: string): string {
  if (/^key_[0-9a-z]{16}$/.test(name) || isDid(name)) return name;
  throw new UsageError(
    'That is not a caller. Give the id of an API key (key_ and 16 letters and digits, as tally apikey list shows it) or a DID.',
  );
}

function account(name: string): string {
  if (OWN_ACCOUNT.test(name)) return name;
  return caller(name.replace(/^caller:/, ''));
}

/** The service's own accounts; all others are callers'. */
const OWN_ACCOUNT =
  /^(?:external|owner|revenue|refunds|withdrawals|development|provider:[\w.-]+|(?:chain|promised):eip155:\d+)$/;

function text(value: string): string {
  if (value !== '' && value.length <= MAX_TEXT) return value;
  throw new UsageError(`A reference or memo has 1 to ${MAX_TEXT} characters.`);
}

function transaction(value: string): string {
  if (/^0x[0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase();
  throw new UsageError('A transaction is 0x and 64 hex digits.');
}

function lineNumber(value: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new UsageError('A line is a whole number from 0.');
}
