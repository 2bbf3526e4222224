import { type Command, type Exit, operatorCommand } from '@tallystick/cli/toolkit';

/** `tally serve`, `tally reload` and `tally backup`: the service on this machine. */
export function serviceCommands(program: Command, finish: (exit: Exit) => void): void {
  operatorCommand(program, 'serve')
    .description(
      'Runs the service until SIGTERM or SIGINT. It is configured by the environment and a file (docs/configuration.md).',
    )
    .option('--workers <number>', 'processes that share the port, or auto for one a core (TALLY_WORKERS)')
    .addHelpText('after', SERVE_HELP)
    .action(async ({ workers }: { workers?: string }) => {
      const { serve } = await import('../../app/main.ts');
      await serve(workers === undefined ? process.env : { ...process.env, TALLY_WORKERS: workers });
    });

  operatorCommand(program, 'reload')
    .description(
      'Has every process of the data directory read its configuration again: models, prices, the keys of providers and the keyring. A process that finds a fault says so and goes on as before. SIGHUP does the same.',
    )
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) =>
      finish(await (await import('../reload.ts')).reload(options)),
    );

  operatorCommand(program, 'backup')
    .description(
      'Writes a consistent copy of the service’s database, while the service runs: to a file, or of PostgreSQL to a folder. Back up the keyring separately.',
    )
    .argument('<path>', 'where to write the copy')
    .option('--force', 'replace what is there, once the copy is complete')
    .option('--json', 'as JSON')
    .addHelpText('after', BACKUP_HELP)
    .action(async (file: string, options: { force?: boolean; json?: boolean }) =>
      (await import('../backup.ts')).backup(file, options),
    );
}

const SERVE_HELP = `
Environment, with the defaults of development:
  PORT                           8787; 0 for any free port
  HOST                           127.0.0.1
  TALLY_DATA_DIR                 ./.tally
  TALLY_HANDLE                   none: the service is did:svc:local-… after its
                                 root key, for good
  TALLY_KEYRING_PASSPHRASE_FILE  none: the keys are not encrypted
  TALLY_ANCHOR_PERIOD_SECONDS    10: how often the anchor log posts its root
  TALLY_DEVNET                   on: a development chain of its own, where no
                                 TALLY_CHAIN_RPC_URL is set and Anvil is
                                 installed
  TALLY_PAYMENTS                 off; x402 asks for USDC, test money where the
                                 chain is the development chain
  NODE_ENV=production            refuses to start without its settings, and
                                 names them

Example:
  $ PORT=9000 TALLY_DATA_DIR=/var/lib/tally tally serve`;

const BACKUP_HELP = `
Examples:
  $ tally backup "tally-$(date +%F).db"

To restore a copy, stop the service. The copy needs the keyring, the posting key
and, in development, the folders devnet and witnesses beside it:
  $ cp -r .tally restored && rm -f restored/tally.db-*
  $ cp tally-2027-01-31.db restored/tally.db
  $ TALLY_DATA_DIR=restored tally log fsck --rpc
  $ TALLY_DATA_DIR=restored tally serve
A development chain runs only beside the service: start that first, and check
with --rpc "$(cat restored/devnet/rpc-url)".
The start is refused (log_behind) if the log has posted since the copy was made.

With PostgreSQL that archives its WAL (docs/operations.md):
  $ tally backup "/backup/$(date +%F)"`;
