import { type Command, operatorCommand, UsageError } from '@tallystick/cli/toolkit';
import { checkRowOptions, type RowOptions, withRowOptions } from './rows.ts';

/** `tally orders`: keys that were bought on the chain, and their delivery. */
export function orderCommands(program: Command): void {
  const orders = operatorCommand(program, 'orders').description(
    'Orders of keys and top-ups that were quoted or paid by a transfer, and the state of their delivery. Works on the data of the service on this machine, also while it runs.',
  );
  const list = orders
    .command('list')
    .summary('list the orders')
    .description('Lists id, kind, state, tier, months, key and what prevents delivery. Oldest first.');
  withRowOptions(list, 'are done or expired', 'as JSON, with the contacts').action(
    async (options: RowOptions) => {
      checkRowOptions(options);
      await (await import('../orders.ts')).list(options);
    },
  );
  orders
    .command('retry')
    .summary('deliver a key again')
    .description('Tries at once to deliver a key that could not be delivered, optionally to another contact.')
    .argument('<id>', 'of the order')
    .option(
      '--contact <contact>',
      'an e-mail address or a domain, in place of the one that was given',
      contact,
    )
    .option('--json', 'as JSON')
    .action(async (id: string, options: { contact?: string; json?: boolean }) =>
      (await import('../orders.ts')).retry(id, options),
    );
}

function contact(text: string): string {
  if (text !== '' && text.length <= 320) return text;
  throw new UsageError('A contact has 1 to 320 characters.');
}
