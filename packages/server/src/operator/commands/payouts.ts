import { type Command, type Exit, operatorCommand, UsageError } from '@tallystick/cli/toolkit';
import { checkRowOptions, type RowOptions, withRowOptions } from './rows.ts';

const MAX_NOTE = 200;
const MAX_WAIT = 3_600;

/** `tally withdrawals` and `tally refunds`: money that the treasury pays out. */
export function payoutCommands(program: Command, finish: (code: Exit) => void): void {
  const withdrawals = operatorCommand(program, 'withdrawals').description(
    'Withdrawals that callers have requested. The amount is held when it is requested, and booked out when its transfer is confirmed. Works on the data of the service on this machine, also while it runs.',
  );
  list(withdrawals, 'withdrawal', 'list the withdrawals');
  pay(withdrawals, 'withdrawal', 'approve', finish).addHelpText('after', APPROVE_HELP);
  decline(
    withdrawals,
    'withdrawal',
    'reject',
    'Rejects waiting requests; the money goes back to the balances.',
  );

  const refunds = operatorCommand(program, 'refunds').description(
    'The refund queue: transfers to the treasury that bought nothing, each with the reason (docs/money.md). Works on the data of the service on this machine, also while it runs.',
  );
  list(refunds, 'refund', 'list the queue');
  pay(refunds, 'refund', 'pay', finish);
  decline(refunds, 'refund', 'dismiss', 'Dismisses waiting refunds; the money is kept, as revenue.');
}

type Kind = 'withdrawal' | 'refund';

function list(group: Command, kind: Kind, summary: string): void {
  const command = group
    .command('list')
    .summary(summary)
    .description('Lists id, state, amount, address and, of refunds, the reason. Oldest first.');
  withRowOptions(command, 'have ended', 'as JSON').action(async (options: RowOptions) => {
    checkRowOptions(options);
    await (await import('../payouts.ts')).list(kind, options);
  });
}

function pay(group: Command, kind: Kind, name: string, finish: (code: Exit) => void): Command {
  return group
    .command(name)
    .summary('pay out on the chain')
    .description(
      'Pays each with one transaction from the treasury’s wallet, and waits until it is confirmed. Each is paid once, however often this is run: a transaction in progress is sent again, with more gas if it has waited a minute. Exit status 1 if one could not be sent or is not confirmed yet.',
    )
    .argument('[ids...]', 'the ids to pay; or give --all')
    .option('--all', 'all that are waiting or in progress')
    .option('--paid-by <tx>', 'only book the one that this transaction has already paid', transaction)
    .option('--wait <seconds>', 'how long to wait for confirmation; 0 not to wait (default: 300)', seconds)
    .option('--json', 'as JSON')
    .action(async (ids: string[], options: PayOptions) => {
      if (ids.length > 0 === (options.all === true)) throw new UsageError('Give the ids to pay, or --all.');
      if (options.paidBy !== undefined && ids.length !== 1)
        throw new UsageError('--paid-by takes one id at a time.');
      finish(await (await import('../payouts.ts')).pay(kind, ids, options));
    });
}

function decline(group: Command, kind: Kind, name: string, description: string): void {
  group
    .command(name)
    .summary(`${name} what is waiting`)
    .description(description)
    .argument('<ids...>', 'which')
    .requiredOption(
      '--note <text>',
      'the reason; the caller can read it at GET /v1/balance/withdrawals',
      note,
    )
    .option('--json', 'as JSON')
    .action(async (ids: string[], options: { note: string; json?: boolean }) =>
      (await import('../payouts.ts')).decline(kind, ids, options),
    );
}

const APPROVE_HELP = `
The treasury’s key (32 bytes in hex, mode 0600) is in the file that
TALLY_TREASURY_KEY_FILE names; no server opens it.

Example:
  $ tally withdrawals list
  $ tally withdrawals approve --all`;

interface PayOptions {
  readonly all?: boolean;
  readonly paidBy?: string;
  readonly wait?: number;
  readonly json?: boolean;
}

function transaction(text: string): string {
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase();
  throw new UsageError('A transaction is 0x and 64 hex digits.');
}

function note(text: string): string {
  if (text !== '' && text.length <= MAX_NOTE) return text;
  throw new UsageError(`A note has 1 to ${MAX_NOTE} characters.`);
}

function seconds(text: string): number {
  if (/^\d{1,4}$/.test(text) && Number(text) <= MAX_WAIT) return Number(text);
  throw new UsageError(`--wait takes 0 to ${MAX_WAIT} seconds.`);
}
