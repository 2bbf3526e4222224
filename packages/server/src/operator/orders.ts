import { paint, print, printable, printJson, remark, UsageError } from '@tallystick/cli/toolkit';
import { formatTimestamp } from '@tallystick/core';
import { formatUsdc } from '@tallystick/ledger';
import { type OrderRow, readContact, type TreasuryStore } from '@tallystick/payments';
import { DEFAULT_ROWS, type RowOptions } from './commands/rows.ts';
import { requireDatabase, serviceConfig, withStore } from './files.ts';

/** Lists the orders that wait for something; with `all`, the newest of all, or those before one. Oldest first. */
export async function list({ all = false, before, limit = DEFAULT_ROWS, json }: RowOptions): Promise<void> {
  const config = serviceConfig();
  requireDatabase(config);
  const orders = await withStore(config, async ({ treasury }) => {
    if (!all) return waiting(treasury);
    const next = before === undefined ? undefined : await treasury.order(before);
    if (next === null)
      throw new UsageError(`There is no order ${printable(before ?? '')}. See: tally orders list`);
    return (await treasury.newestOrders(limit, next)).toReversed();
  });
  if (json) printJson(orders.map(listing));
  else for (const order of orders) print(line(order));
  const [oldest] = orders;
  if (oldest === undefined) {
    if (!json) remark(all ? 'There is no order.' : 'Every order is done.');
  } else if (all && orders.length === limit) remark(`Those before them: --before ${oldest.id}`);
}

async function waiting(treasury: TreasuryStore): Promise<OrderRow[]> {
  const rows: OrderRow[] = [];
  for await (const row of treasury.listOpenOrders()) rows.push(row);
  return rows;
}

/** Retries the delivery of a key at once. */
export async function retry(
  id: string,
  { contact, json }: { contact?: string; json?: boolean },
): Promise<void> {
  const config = serviceConfig();
  requireDatabase(config);
  if (contact !== undefined && readContact(contact, config.mode === 'development') === null)
    throw new UsageError('A contact is an e-mail address, a domain or a DID of the method key or svc.');
  const order = await withStore(config, async ({ treasury }) => {
    const found = await treasury.order(id);
    if (found === null || !(found.state === 'delivering' || found.state === 'undeliverable'))
      throw new UsageError(`There is no order ${printable(id)} that is waiting for delivery.`);
    const dueAt = Math.floor(Date.now() / 1000);
    const next: OrderRow = {
      ...found,
      state: 'delivering',
      dueAt,
      contact: contact ?? found.contact,
      problem: null,
    };
    const moved = await treasury.moveOrder(next, found);
    if (moved === 'overtaken')
      throw new UsageError('A server is delivering it at the moment. Look again in a minute.');
    return next;
  });
  if (json) printJson(listing(order));
  else print(line(order));
  remark('A running server tries it now. tally orders list shows what came of it.');
}

function listing(order: OrderRow) {
  const { id, kind, state, tier, months, contact, did, account, amount, payment, apiKey, attempts, problem } =
    order;
  return {
    id,
    kind,
    state,
    tier,
    months,
    contact,
    did,
    account,
    amount: amount === null ? null : formatUsdc(amount * 1000n),
    payment,
    key_id: apiKey,
    created_at: formatTimestamp(order.createdAt * 1000),
    paid_until: order.paidUntil === null ? null : formatTimestamp(order.paidUntil * 1000),
    attempts,
    problem,
  };
}

function line({ id, kind, state, tier, months, apiKey, attempts, problem }: OrderRow): string {
  const what = kind === 'top_up' ? '' : `${tier} ${months} mo`;
  const tried = problem === null ? '' : `${attempts} attempts: ${printable(problem)}`;
  return `${id}  ${kind.padEnd(7)}  ${state.padEnd(13)}  ${what.padEnd(11)}  ${apiKey ?? ''}  ${paint('dim', tried)}`;
}
