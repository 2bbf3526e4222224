import { type Command, InvalidArgumentError, operatorCommand } from '@tallystick/cli/toolkit';

/** The longest life of a bundle that is signed here, in days. */
const MAX_DAYS = 3660;

/** `tally trust draft | sign | publish | approve`: the operator's commands for the trust bundle. */
export function bundleCommands(trust: Command): void {
  operatorCommand(trust, 'draft')
    .description(
      'Writes the next bundle, unsigned, to standard output as JSON: for a root that is kept offline.',
    )
    .option('--json', 'JSON; the output always is')
    .action(async () => (await import('../trust.ts')).draft());

  operatorCommand(trust, 'sign')
    .description(
      'Signs a draft with the root key and writes the bundle to standard output as JSON. Needs no network and no database.',
    )
    .argument('<draft>', 'the draft: a file, or - for standard input')
    .requiredOption('--root-keyring <file>', 'the keyring with the root (tally keys init --root-out)')
    .option('--days <days>', `for how many days the bundle is valid: 1 to ${MAX_DAYS} (default: 90)`, days)
    .option('--json', 'JSON; the output always is')
    .action(async (file: string, options: { rootKeyring: string; days?: number }) =>
      (await import('../trust.ts')).sign(file, options),
    );

  operatorCommand(trust, 'publish')
    .description(
      'Publishes a signed bundle on the service of this machine. A running server starts to use it within 2 s. Into a new ' +
        'database of the service, publish all bundles of before, the oldest first.',
    )
    .argument('<files...>', 'the bundles: files, or - for standard input')
    .option('--last-checkpoint <file>', 'into a new database: the last checkpoint of the log before')
    .option('--json', 'as JSON')
    .addHelpText('after', PUBLISH_HELP)
    .action(async (files: string[], options: { lastCheckpoint?: string; json?: boolean }) =>
      (await import('../trust.ts')).publish(files, options),
    );

  operatorCommand(trust, 'approve')
    .description(
      'Marks a registered issuer as verified. This is your decision as operator; issuer_verified and trusted rest on it.',
    )
    .argument('<did>', 'did:svc:<handle>')
    .option('--json', 'as JSON')
    .action(async (did: string, { json }: { json?: boolean }) =>
      (await import('../trust.ts')).approve(did, json === true),
    );
}

const PUBLISH_HELP = `
With the root kept offline, a bundle is made in three steps:
  $ tally trust draft > draft.json         on the service
  $ tally trust sign draft.json --root-keyring root.json > bundle.json
                                           where the root is
  $ tally trust publish bundle.json        on the service`;

function days(text: string): number {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > MAX_DAYS)
    throw new InvalidArgumentError(`Expected a whole number from 1 to ${MAX_DAYS}.`);
  return value;
}
