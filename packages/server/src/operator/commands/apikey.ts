import type { Grant, Scope, Tier } from '@tallystick/callers';
import { type Command, Option, operatorCommand, UsageError, urlOption } from '@tallystick/cli/toolkit';
import type { JsonValue } from '@tallystick/core';

/** The server's module is loaded only when it is needed. */
const TIERS = ['pro', 'scale', 'enterprise'] as const satisfies readonly Tier[];
const SCOPES = ['partner'] as const satisfies readonly Scope[];
const MAX_LABEL = 200;

/** `tally apikey`: the keys for anchoring and for the pilots of the service on this machine. */
export function apiKeyCommands(program: Command): void {
  const keys = operatorCommand(program, 'apikey').description(
    'API keys, with which clients anchor and partners use the pilots. Works on the data of the service on this machine, also while it runs: a new key works with the next request, and a change or a revocation holds from the next one on, with PostgreSQL within a second.',
  );

  keys
    .command('create')
    .summary('make a key')
    .description('Makes a key and prints it once: only its hash is stored.')
    .addOption(new Option('--tier <tier>', 'tier of a key that anchors').choices([...TIERS]))
    .addOption(new Option('--scope <scope>', 'use of a key that does not anchor').choices([...SCOPES]))
    .option('--label <text>', 'a label to recognise it by', label)
    .option('--json', 'as JSON')
    .addHelpText('after', CREATE_HELP)
    .action(async ({ tier, scope, ...options }: CreateOptions) =>
      (await import('../api-keys.ts')).create({ ...options, grant: grantOf(tier, scope) }),
    );

  keys
    .command('list')
    .summary('list the keys')
    .description('Lists ids, tiers, labels and dates. The keys themselves are not stored.')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => (await import('../api-keys.ts')).list(options));

  keys
    .command('revoke')
    .summary('revoke a key')
    .description('Revokes a key from the next request on. What was anchored with it stays anchored.')
    .argument('<id>', 'its id (tally apikey list), not the key')
    .option('--json', 'as JSON')
    .action(async (id: string, options: { json?: boolean }) => {
      requireId(id);
      await (await import('../api-keys.ts')).revoke(id, options);
    });

  routeCommand(keys);
  limitCommand(keys);
  openCommand(keys);
}

function routeCommand(keys: Command): void {
  keys
    .command('route')
    .summary('set how the calls of a key are routed')
    .description(
      'Sets the `provider` preferences, the `cost_quality` and the part in `experiments` of all calls with a key, from the next request on. What a call says itself goes before them.',
    )
    .argument('<id>', 'its id (tally apikey list), not the key')
    .argument('<json>', 'the members of a call; null to set nothing', jsonOf)
    .option('--json', 'as JSON')
    .addHelpText('after', ROUTE_HELP)
    .action(async (id: string, routing: JsonValue, options: { json?: boolean }) => {
      requireId(id);
      await (await import('../api-key-routing.ts')).route(id, routing, options);
    });
}

const ROUTE_HELP = `
Example:
  $ tally apikey route key_2v6u8n1m4c9x7b3z '{"provider":{"sort":"price"}}'`;

function limitCommand(keys: Command): void {
  keys
    .command('limit')
    .summary('limit what a key, or a DID, spends')
    .description(
      'Sets the limits of a key and of the keys that it makes, or of all that the account of a DID pays, from the next request on. Members that are not given stay; null takes one away. Without JSON it shows the limits.',
    )
    .argument('<who>', 'the id of a key (tally apikey list), not the key; or a DID')
    .argument('[json]', 'the limits; null for none', jsonOf)
    .option('--json', 'as JSON')
    .addHelpText('after', LIMIT_HELP)
    .action(async (who: string, limits: JsonValue | undefined, options: { json?: boolean }) => {
      if (!who.startsWith('did:')) requireId(who);
      await (await import('../api-key-limits.ts')).limit(who, limits, options);
    });
}

const LIMIT_HELP = `
Limits:
  day_usdc, month_usdc                    USDC for calls of a UTC day, a month
  requests_per_minute, tokens_per_minute  calls, and their tokens
  models, providers                       the only ones that may serve calls
  max_price                               {prompt, completion, request}

Example:
  $ tally apikey limit key_2v6u8n1m4c9x7b3z '{"day_usdc":"5"}'`;

function jsonOf(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw new UsageError('That is not JSON. Give, for example, {"provider":{"sort":"price"}}.');
  }
}

function openCommand(keys: Command): void {
  keys
    .command('open')
    .summary('open a key that was sealed to your DID')
    .description(
      'Opens a bought key that was sealed to a DID, with the key file of that DID, and prints it. The order is fetched from the service; the key file stays here.',
    )
    .argument(
      '<order>',
      'the id of the order (ord_…), or a file with its sealed document; - for standard input',
    )
    .requiredOption('--key <file>', 'your key file')
    .addOption(urlOption())
    .option('--json', 'as JSON')
    .addHelpText('after', OPEN_HELP)
    .action(async (order: string, options: { key: string; url: string; json?: boolean }) =>
      (await import('../open-key.ts')).open(order, options),
    );
}

const OPEN_HELP = `
Example:
  $ tally apikey open ord_7d0b6f4e --key agent.json > scale.key`;

const CREATE_HELP = `
Tiers:
  pro         50,000 receipts and hashes a month; anchored on request
  scale       no limit; every receipt is anchored
  enterprise  no limit; every receipt is anchored

Scopes:
  partner     opens the pilots; can neither anchor nor pay

Examples:
  $ tally apikey create --tier pro --label "acme, invoice 117" > acme.key
  $ tally apikey create --scope partner --label "acme, pilot" > partner.key`;

interface CreateOptions {
  readonly tier?: Tier;
  readonly scope?: Scope;
  readonly label?: string;
  readonly json?: boolean;
}

/** A key has a tier or a scope, never both. */
function grantOf(tier: Tier | undefined, scope: Scope | undefined): Grant {
  const grant = tier ?? scope;
  if (grant !== undefined && (tier === undefined || scope === undefined)) return grant;
  throw new UsageError('Give the key either a --tier (pro, scale, enterprise) or a --scope (partner).');
}

function label(text: string): string {
  if (text !== '' && text.length <= MAX_LABEL) return text;
  throw new UsageError(`A label has 1 to ${MAX_LABEL} characters.`);
}

/** The message does not repeat the input, which may be a key. */
function requireId(id: string): void {
  if (/^key_[0-9a-z]{16}$/.test(id)) return;
  throw new UsageError(
    'That is not the id of a key. An id is key_ and 16 letters and digits, as tally apikey list shows it.',
  );
}
