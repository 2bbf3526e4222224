import { type Command, operatorCommand, UsageError } from '@tallystick/cli/toolkit';

/** `tally orders`: keys that were bought on the chain, and their delivery. */
export function orderCommands(program: Command): void {
  const orders = operatorCommand(program, 'orders').description(
    'Orders of keys and top-ups that were quoted or paid by a transfer, and the state of their delivery. Works on the data of the service on this machine, also while it runs.',
  );
  orders
    .command('list')
    .summary('list the orders')
    .description('Lists id, kind, state, tier, months, key and what prevents delivery. Oldest first.')
    .option('--all', 'also those that are done or expired')
    .option('--json', 'as JSON, with the contacts')
    .action(async (options: { all?: boolean; json?: boolean }) =>
      (await import('../orders.ts')).list(options),
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
