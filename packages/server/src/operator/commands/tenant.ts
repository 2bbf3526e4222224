import { type Command, operatorCommand, UsageError } from '@tallystick/cli/toolkit';

const MAX_LABEL = 200;

/** `tally tenant`: the tenants of the service on this machine, whose receipts are kept apart. */
export function tenantCommands(program: Command): void {
  const tenants = operatorCommand(program, 'tenant').description(
    'Tenants, each with its own receipts and evidence room, and their API keys. Works on the data of the service on this machine, also while it runs.',
  );

  tenants
    .command('create')
    .summary('make a tenant')
    .description('Makes a tenant and prints its id. It has no key yet: tally tenant key.')
    .option('--label <text>', 'a label to recognise it by', label)
    .option('--json', 'as JSON')
    .action(async (options: { label?: string; json?: boolean }) =>
      (await import('../tenants.ts')).create(options),
    );

  tenants
    .command('key')
    .summary('make a key for a tenant')
    .description(
      'Makes an API key for a tenant and prints it once: only its hash is stored. It opens this tenant only, and works from the next request on.',
    )
    .argument('<tenant>', 'its id (tally tenant list)')
    .option('--label <text>', 'a label to recognise the key by', label)
    .option('--json', 'as JSON')
    .addHelpText('after', KEY_HELP)
    .action(async (tenant: string, options: { label?: string; json?: boolean }) => {
      requireId(tenant, 't');
      await (await import('../tenants.ts')).key(tenant, options);
    });

  tenants
    .command('list')
    .summary('list the tenants')
    .description('Lists ids, labels, dates and the ids of the active keys.')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => (await import('../tenants.ts')).list(options));

  tenants
    .command('revoke')
    .summary('revoke a tenant, or one of its keys')
    .description(
      'Revokes a tenant with all its keys, or one key, from the next request on, with PostgreSQL within a second. Receipts are kept for their retention period.',
    )
    .argument('<id>', 'the id of the tenant (t_…) or of the key (key_…), not the key itself')
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

/** The message does not repeat the input, which may be a key. */
function requireId(id: string, kind: 't' | 'key'): void {
  if (new RegExp(`^${kind}_[0-9a-z]{16}$`).test(id)) return;
  throw new UsageError(
    'That is not such an id: t_ for a tenant or key_ for a key, and 16 letters and digits, as tally tenant list shows it.',
  );
}
