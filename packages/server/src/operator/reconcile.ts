import { EXIT, type Exit, paint, print, printJson, remark } from '@tallystick/cli/toolkit';
import { formatUsdc } from '@tallystick/ledger';
import { openTreasuryCommands } from '@tallystick/payments';
import { requireDatabase, serviceConfig, withStore } from './files.ts';

/** Compares ledger and chain; with `all`, from the first watched block on. */
export async function reconcile({
  all = false,
  own,
  json,
}: {
  all?: boolean;
  own?: string;
  json?: boolean;
}): Promise<Exit> {
  const config = serviceConfig();
  requireDatabase(config);
  const found = await withStore(config, async (store) => {
    const treasury = await openTreasuryCommands(config, store);
    if (own !== undefined) await treasury.bookOwn(own);
    return treasury.reconcile({ all });
  });
  const { network, treasuries, block, since, transfers, differences } = found;
  const agree = differences.length === 0;
  const [chain, ledger, pending] = [found.onChain, found.inLedger, found.pending].map(usdc);
  if (json) {
    printJson({
      agree,
      network,
      treasuries,
      block,
      since,
      on_chain: chain,
      in_ledger: ledger,
      pending,
      transactions: transfers,
      postings: found.postings,
      differences: differences.map(({ kind, txHash, posting, onChain, inLedger }) => ({
        kind,
        tx_hash: txHash,
        posting,
        on_chain: usdc(onChain),
        in_ledger: usdc(inLedger),
      })),
    });
    return agree ? EXIT.ok : EXIT.failed;
  }
  print(
    `${treasuries.join(' and ')} on ${network} ${treasuries.length === 1 ? 'holds' : 'hold'} ${chain} USDC at block ${block}; the ledger says ${ledger}${found.pending === 0n ? '' : `, and ${pending} are not confirmed yet`}.`,
  );
  for (const { kind, txHash, posting, onChain, inLedger } of differences) {
    print(
      `  ${paint('red', kind.replaceAll('_', ' '))}: ${usdc(onChain)} on the chain, ${usdc(inLedger)} in the ledger  ${txHash ?? ''}  ${posting ?? ''}`,
    );
  }
  print(agree ? paint('green', 'Ledger and chain agree.') : paint('red', 'Ledger and chain differ.'));
  if (since !== null) remark(`Blocks up to ${since} were compared before: --all compares them again.`);
  if (!agree) remark('What to do about each: docs/runbook.md, “Ledger and chain differ”.');
  return agree ? EXIT.ok : EXIT.failed;
}

const usdc = (amount: bigint): string => formatUsdc(amount * 1000n);
