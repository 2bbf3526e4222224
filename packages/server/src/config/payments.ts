import { isChecksummed } from '@tallystick/core';
import type { PaymentsConfig } from '@tallystick/payments';
import { type EnvReader, parseUrl, publicUrlProblem } from './reader.ts';

interface Around {
  readonly production: boolean;
  readonly chain: { readonly rpcUrl: string | null; readonly devnet: boolean };
}

/**
 * Reads how callers pay. With payments on, every chain but the development chain needs a treasury, a token and a
 * facilitator.
 */
export function readPayments(read: EnvReader, { production, chain }: Around): PaymentsConfig {
  const mode = read.oneOf('TALLY_PAYMENTS', ['off', 'x402'], 'off');
  const needed = mode === 'x402' && !chain.devnet && (production || chain.rpcUrl !== null);
  if (mode === 'x402' && !chain.devnet && !needed) {
    read.fault(
      'TALLY_PAYMENTS',
      'is x402, but there is no chain: TALLY_DEVNET is off and TALLY_CHAIN_RPC_URL is not set',
    );
  }
  const setting = (name: string, example: string, readOne: () => string | null): string | null => {
    const faults = read.faults.length;
    const text = readOne();
    if (needed && text === null && read.faults.length === faults) {
      read.fault(name, 'is not set, and payments have no default for it on this chain', example);
    }
    return text;
  };
  const address = (name: string, example: string): string | null =>
    setting(name, example, () => {
      const text = read.optional(name, { pattern: /^0x[0-9a-fA-F]{40}$/, example });
      if (text === null) return null;
      if (!isChecksummed(text)) {
        read.fault(name, 'has a wrong checksum, so it may be mistyped; copy the address again', example);
      } else if (/^0x0+$/.test(text)) {
        read.fault(name, 'is the address of nobody, from which nothing comes back', example);
      } else return text;
      return null;
    });
  return {
    mode,
    treasury: address('TALLY_TREASURY', '0x52908400098527886E0F7030069857D2E4169EE7'),
    usdc: address('TALLY_USDC', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'),
    confirmations: read.integer('TALLY_USDC_CONFIRMATIONS', production ? 12 : 1, 1, 100_000),
    waitSeconds: read.integer('TALLY_X402_WAIT_SECONDS', 15, 1, 120),
    facilitatorUrl: setting('TALLY_X402_FACILITATOR', FACILITATOR, () => readFacilitator(read)),
  };
}

const FACILITATOR = 'https://facilitator.example.com';

/** An error does not quote the value, which may contain credentials. */
function readFacilitator(read: EnvReader): string | null {
  const name = 'TALLY_X402_FACILITATOR';
  const text = read.optional(name, {});
  if (text === null) return null;
  const problem = publicUrlProblem(parseUrl(text));
  if (problem !== null) read.fault(name, problem, FACILITATOR);
  return problem === null ? text.replace(/\/+$/, '') : null;
}
