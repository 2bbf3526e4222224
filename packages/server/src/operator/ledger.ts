import { randomUUID } from 'node:crypto';
import { payerOf } from '@tallystick/callers';
import {
  EXIT,
  type Exit,
  paint,
  print,
  printable,
  printJson,
  remark,
  UsageError,
} from '@tallystick/cli/toolkit';
import { formatTimestamp, isDid, TallyError } from '@tallystick/core';
import { callerAccount, creditCaller, formatUsdc, parseUsdc, type StatementLine } from '@tallystick/ledger';
import { requireDatabase, serviceConfig, withStore } from './files.ts';

type Store = Parameters<Parameters<typeof withStore>[1]>[0];

const DEFAULT_LINES = 50;

/**
 * Credits a caller with what it paid in; the same reference counts once.
 * @throws api_key_invalid, api_key_revoked; invalid_field where the reference was used for another caller or amount
 */
export async function credit(
  caller: string,
  amountText: string,
  { reference = randomUUID(), memo = 'credit', json }: { reference?: string; memo?: string; json?: boolean },
): Promise<void> {
  const amount = usdc(amountText);
  const { account, outcome, balance } = await onLedger(async (store) => {
    const payer = isDid(caller) ? caller : await payerOf(store, caller);
    const account = callerAccount(payer);
    return {
      account,
      outcome: await creditCaller(store, { caller: payer, amount, reference, memo, now: Date.now() }),
      balance: (await store.ledger.balance(account)).balance,
    };
  });
  const credited = outcome === 'posted';
  if (json)
    printJson({ account, amount: formatUsdc(amount), balance: formatUsdc(balance), reference, credited });
  else if (credited)
    print(`${account} is credited with ${formatUsdc(amount)} USDC and has ${formatUsdc(balance)}.`);
  else
    remark(
      `${printable(reference)} was already credited, and counts only once. ${account} has ${formatUsdc(balance)} USDC.`,
    );
}

/** @throws UsageError unless it is an amount greater than 0 */
function usdc(text: string): bigint {
  try {
    const amount = parseUsdc(text);
    if (amount > 0n) return amount;
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
  throw new UsageError('The amount to credit must be greater than 0.');
}

/** Shows the balance of an account. */
export async function balance(name: string, { json }: { json?: boolean }): Promise<void> {
  const account = accountOf(name);
  const { balance: total, reserved } = await onLedger(({ ledger }) => ledger.balance(account));
  const available = total - reserved;
  const [has, held, free] = [total, reserved, available].map(formatUsdc);
  if (json) return printJson({ account, balance: has, reserved: held, available: free });
  print(`${account}: ${has} USDC${reserved === 0n ? '' : `, ${held} of it reserved for calls under way`}`);
}

/** Lists the newest lines of an account, or those after a line, in their order. */
export async function statement(
  name: string,
  { after, limit = DEFAULT_LINES, json }: { after?: number; limit?: number; json?: boolean },
): Promise<void> {
  const account = accountOf(name);
  const lines = await onLedger(async ({ ledger }) => {
    const start = after ?? Math.max((await ledger.balance(account)).lines - limit, 0);
    return ledger.statement(account, { after: start, limit });
  });
  if (json) return printJson(lines.map(listing));
  for (const line of lines) print(lineText(line));
  if (lines.length === 0) remark(`${account} has no line${after === undefined ? '' : ` after ${after}`}.`);
}

function listing({ line, posting, memo, at, amount, balance: total }: StatementLine) {
  return {
    line,
    at: formatTimestamp(at * 1000),
    amount: formatUsdc(amount),
    balance: formatUsdc(total),
    memo,
    id: posting,
  };
}

function lineText(row: StatementLine): string {
  const { line, at, amount, balance: total, memo, id } = listing(row);
  const signed = (row.amount > 0n ? `+${amount}` : amount).padStart(16);
  return `${String(line).padStart(6)}  ${at}  ${signed}  ${total.padStart(16)}  ${printable(memo)}  ${paint('dim', printable(id))}`;
}

/** Recomputes every sum of the books. */
export async function check({ json }: { json?: boolean }): Promise<Exit> {
  const { postings, sum, faults } = await onLedger(({ ledger }) => ledger.checkBalanced());
  const balanced = sum === 0n && faults.length === 0;
  if (json) printJson({ balanced, postings, sum: formatUsdc(sum), faults });
  else {
    print(`${postings} postings ${balanced ? paint('green', 'balance') : paint('red', 'do not balance')}.`);
    for (const fault of faults) print(`  ${printable(fault)}`);
  }
  return balanced ? EXIT.ok : EXIT.failed;
}

/** The name of an account: the service's own ones have theirs; any other name is a caller's. */
function accountOf(name: string): string {
  const isOwn =
    /^(?:external|owner|revenue|refunds|withdrawals|development|(?:provider|chain|promised|caller):.+)$/.test(
      name,
    );
  return isOwn ? name : callerAccount(name);
}

function onLedger<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const config = serviceConfig();
  requireDatabase(config);
  return withStore(config, work);
}
