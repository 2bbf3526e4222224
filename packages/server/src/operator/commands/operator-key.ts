import { type Command, operatorCommand, UsageError } from '@tallystick/cli/toolkit';

const MAX_LABEL = 200;

/** `tally operator-key`: the keys that open the operator's page and interface. */
export function operatorKeyCommands(program: Command): void {
  const keys = operatorCommand(program, 'operator-key').description(
    'Operator keys, which open the page /operator: they show how the whole service is, and can rest and resume models. Works on the data of the service on this machine, also while it runs; the service’s log tells of every key that is made or revoked.',
  );

  keys
    .command('create')
    .summary('make a key')
    .description(
      'Makes a key and prints it once: only its hash is stored. It works from the next request on.',
    )
    .option('--label <text>', 'who has it, or what for', label)
    .option('--link', 'print it as a link that opens the page signed in, for a browser on this machine')
    .option('--json', 'as JSON')
    .addHelpText('after', CREATE_HELP)
    .action(async (options: { label?: string; link?: boolean; json?: boolean }) =>
      (await import('../operator-keys.ts')).create(options),
    );

  keys
    .command('list')
    .summary('list the keys')
    .description('Lists ids, labels and dates. The keys themselves are not stored.')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => (await import('../operator-keys.ts')).list(options));

  keys
    .command('revoke')
    .summary('revoke a key')
    .description('Revokes a key from the next request on. What was done with it stays done.')
    .argument('<id>', 'its id (tally operator-key list), not the key')
    .option('--json', 'as JSON')
    .action(async (id: string, options: { json?: boolean }) => {
      requireId(id);
      await (await import('../operator-keys.ts')).revoke(id, options);
    });
}

const CREATE_HELP = `
Example:
  $ tally operator-key create --label "on call" > operator.key
  $ tally operator-key create --link`;

function label(text: string): string {
  if (text !== '' && text.length <= MAX_LABEL) return text;
  throw new UsageError(`A label has 1 to ${MAX_LABEL} characters.`);
}

/** The message does not repeat the input, which may be a key. */
function requireId(id: string): void {
  if (/^opk_[0-9a-z]{16}$/.test(id)) return;
  throw new UsageError(
    'That is not the id of an operator key. An id is opk_ and 16 letters and digits, as tally operator-key list shows it.',
  );
}
