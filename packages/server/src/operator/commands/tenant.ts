import { type Command, operatorCommand, UsageError } from '@tallystick/cli/toolkit';

const MAX_LABEL = 200;

/** `tally tenant`: whose receipts are kept apart, at the service on this machine. */
export function tenantCommands(program: Command): void {
  const tenants = operatorCommand(program, 'tenant').description(
    'Tenants, each with receipts and an evidence room of its own, and their API keys. Works on the data of the service on this machine, also while it runs.',
  );

  tenants
    .command('create')
    .summary('make a tenant')
    .description('Makes a tenant and prints its id. It has no key yet: tally tenant key.')
    .option('--label <text>', 'what to remember of it', label)
    .option('--json', 'as JSON')
    .action(async (options: { label?: string; json?: boolean }) =>
      (await import('../tenants.ts')).create(options),
    );

  tenants
    .command('key')
    .summary('make a key of a tenant')
    .description(
      'Makes an API key of a tenant and prints it, this once: only its hash is kept. It opens this tenant alone, and counts from the next request on.',
    )
    .argument('<tenant>', 'its id (tally tenant list)')
    .option('--label <text>', 'what to remember of the key', label)
    .option('--json', 'as JSON')
    .addHelpText('after', KEY_HELP)
    .action(async (tenant: string, options: { label?: string; json?: boolean }) => {
      requireId(tenant, 't');
      await (await import('../tenants.ts')).key(tenant, options);
    });

  tenants
    .command('list')
    .summary('list the tenants')
    .description('Lists ids, labels, dates and the ids of the keys in force.')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => (await import('../tenants.ts')).list(options));

  tenants
    .command('revoke')
    .summary('revoke a tenant, or one key of it')
    .description(
      'Revokes a tenant with all its keys, or one key, from the next request on. Receipts stay for their retention.',
    )
    .argument('<id>', 'of the tenant (t_…) or of the key (key_…), not the key itself')
    .option('--json', 'as JSON')
    .action(async (id: string, options: { json?: boolean }) => {
      const kind = id.startsWith('key_') ? 'key' : 't';
      requireId(id, kind);
      await (await import('../tenants.ts')).revoke(id, { ...options, isKey: kind === 'key' });
    });
}

const KEY_HELP = `
Example:
  $ tenant=$(tally tenant create --label "acme")
  $ tally tenant key "$tenant" --label "acme, production" > acme.key`;

function label(text: string): string {
  if (text !== '' && text.length <= MAX_LABEL) return text;
  throw new UsageError(`A label has 1 to ${MAX_LABEL} characters.`);
}

/** The message does not repeat what was given: it may be a key. */
function requireId(id: string, kind: 't' | 'key'): void {
  if (new RegExp(`^${kind}_[0-9a-z]{16}$`).test(id)) return;
  throw new UsageError(
    'That is no such id: t_ for a tenant or key_ for a key, and 16 letters and digits, as tally tenant list shows it.',
  );
}
