import { type Command, type Exit, operatorCommand, UsageError } from '@tallystick/cli/toolkit';

const MAX_NOTE = 200;
const MAX_WAIT = 3_600;

/** `tally withdrawals` and `tally refunds`: money that the treasury pays out. */
export function payoutCommands(program: Command, finish: (code: Exit) => void): void {
  const withdrawals = operatorCommand(program, 'withdrawals').description(
    'What callers have asked to be paid. The amount is put aside when it is asked for, and booked out when its transfer is confirmed. Works on the data of the service on this machine, also while it runs.',
  );
  list(withdrawals, 'withdrawal', 'list what was asked for');
  pay(withdrawals, 'withdrawal', 'approve', finish).addHelpText('after', APPROVE_HELP);
  decline(
    withdrawals,
    'withdrawal',
    'reject',
    'Rejects requests that are waiting; the money goes back to the balances.',
  );

  const refunds = operatorCommand(program, 'refunds').description(
    'The refund queue: transfers to the treasury that bought nothing, each with the reason (docs/money.md). Works on the data of the service on this machine, also while it runs.',
  );
  list(refunds, 'refund', 'list the queue');
  pay(refunds, 'refund', 'pay', finish);
  decline(refunds, 'refund', 'dismiss', 'Dismisses refunds that are waiting; the money is kept, as revenue.');
}

type Kind = 'withdrawal' | 'refund';

function list(group: Command, kind: Kind, summary: string): void {
  group
    .command('list')
    .summary(summary)
    .description('Lists id, state, amount, address and, of refunds, the reason. Oldest first.')
    .option('--all', 'those that have ended too')
    .option('--json', 'as JSON')
    .action(async (options: { all?: boolean; json?: boolean }) =>
      (await import('../payouts.ts')).list(kind, options),
    );
}

function pay(group: Command, kind: Kind, name: string, finish: (code: Exit) => void): Command {
  return group
    .command(name)
    .summary('pay out on the chain')
    .description(
      'Pays out, one transaction each, from the treasury’s wallet, and waits until they are confirmed. Each is paid once, however often this is run: one that is under way is sent again, for more gas where it has waited a minute. Exit status 1 where one could not be sent or is not confirmed yet.',
    )
    .argument('[ids...]', 'which; or give --all')
    .option('--all', 'all that are waiting or under way')
    .option('--paid-by <tx>', 'only book the one that this transaction has paid already', transaction)
    .option('--wait <seconds>', 'for the confirmation; 0 for not at all (default: 300)', seconds)
    .option('--json', 'as JSON')
    .action(async (ids: string[], options: PayOptions) => {
      if (ids.length > 0 === (options.all === true))
        throw new UsageError('Name what is to be paid by its ids, or give --all.');
      if (options.paidBy !== undefined && ids.length !== 1)
        throw new UsageError('--paid-by is for one at a time.');
      finish(await (await import('../payouts.ts')).pay(kind, ids, options));
    });
}

function decline(group: Command, kind: Kind, name: string, description: string): void {
  group
    .command(name)
    .summary(`${name} what is waiting`)
    .description(description)
    .argument('<ids...>', 'which')
    .requiredOption('--note <text>', 'why; a caller reads it at GET /v1/balance/withdrawals', note)
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
