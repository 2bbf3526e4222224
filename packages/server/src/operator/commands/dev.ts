import { type Command, operatorCommand, UsageError } from '@tallystick/cli/toolkit';

/** `tally dev`: test money of the development chain on this machine. */
export function devCommands(program: Command): void {
  const dev = operatorCommand(program, 'dev').description(
    'Test USDC and ether on the development chain of the service on this machine, while it runs with TALLY_PAYMENTS=x402. Refuses every other chain.',
  );

  dev
    .command('faucet')
    .summary('give test USDC and ether to an address')
    .description('Adds test USDC to the address, and tops it up to 1 ether for gas.')
    .argument('[address]', '0x and 40 hex (default: the wallet alice)', address)
    .option('--amount <usdc>', 'how much, such as 100 or 0.25 (default: 100)')
    .option('--json', 'as JSON')
    .addHelpText('after', FAUCET_HELP)
    .action(async (to: string | undefined, options: { amount?: string; json?: boolean }) =>
      (await import('../dev.ts')).faucet(to, options),
    );

  dev
    .command('wallets')
    .summary('the wallets of the development chain')
    .description(
      'Shows the chain, its USDC, and its wallets with their money. Their secret keys are known to everyone: never send anything of value there.',
    )
    .option('--json', 'as JSON, with the secret keys')
    .action(async (options: { json?: boolean }) => (await import('../dev.ts')).wallets(options));
}

const FAUCET_HELP = `
Example:
  $ TALLY_PAYMENTS=x402 tally serve              in another terminal
  $ tally dev faucet 0x52908400098527886E0F7030069857D2E4169EE7 --amount 25`;

function address(text: string): string {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return text;
  throw new UsageError(`An address is 0x and 40 hex, not ${JSON.stringify(text)}.`);
}
