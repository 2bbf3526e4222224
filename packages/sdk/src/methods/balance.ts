import type { CallOptions, Transport } from '../http/transport.ts';
import type {
  Balance,
  GetBalanceStatementAnswer,
  ListWithdrawalsAnswer,
  PaymentInstructions,
  TopUpBalanceAnswer,
  Withdrawal,
} from './documents.ts';
import { type ListParams, pageOf } from './lists.ts';
import { read, send } from './read.ts';

/** The prepaid balance of the API key, or of the agent that signs. Amounts that are sent are decimal text in USDC. */
export interface BalanceMethods {
  /** Reads the balance. @throws ServiceError (api_key_*, signature_invalid) */
  getBalance(call?: CallOptions): Promise<Balance>;
  /** Lists the entries, oldest first. For the next page give the answer's `next` as `after`, until that is null. */
  getBalanceStatement(params?: StatementParams, call?: CallOptions): Promise<GetBalanceStatementAnswer>;
  /** Asks for the exact amount by which a transfer is recognised as a top-up. @throws ServiceError (payments_off…) */
  quoteTopUp(params: { readonly amount: string }, call?: CallOptions): Promise<PaymentInstructions>;
  /**
   * Tops up by x402; needs a `fetch` that pays. A retry with the same idempotency key is not paid again.
   * @throws ServiceError (payment_required with the terms in `problem.payment`, if the fetch does not pay; payments_off)
   */
  topUpBalance(params: TopUpParams, call?: CallOptions): Promise<TopUpBalanceAnswer>;
  /**
   * Requests a withdrawal from the balance of the agent that signs. Repeating the idempotency key never makes a second one.
   * @throws ServiceError (signature_invalid, insufficient_balance…)
   */
  requestWithdrawal(params: WithdrawalParams, call?: CallOptions): Promise<Withdrawal>;
  /**
   * Lists the withdrawals of the agent that signs. For the next page give the answer's `next_cursor` as `cursor`, until that
   * is null. @throws ServiceError (signature_invalid)
   */
  listWithdrawals(params?: ListParams, call?: CallOptions): Promise<ListWithdrawalsAnswer>;
}

export interface StatementParams {
  /** Return the entries after this number; from the first when absent. */
  readonly after?: number | undefined;
  /** Most entries to return: 1 to 1,000; 100 when absent. */
  readonly limit?: number | undefined;
}

export interface TopUpParams {
  readonly amount: string;
  /** Id of an API key (`key_…`), or a DID: the caller's own account when absent. */
  readonly account?: string | undefined;
}

export interface WithdrawalParams {
  /** EVM address on the service's network, with a valid checksum. */
  readonly address: string;
  readonly amount: string;
}

export function balanceMethods(transport: Transport): BalanceMethods {
  return {
    getBalance: (call) => read(transport, '/v1/balance', call),
    getBalanceStatement: ({ after, limit } = {}, call) =>
      read(transport, '/v1/balance/statement', call, { after, limit }),
    quoteTopUp: ({ amount }, call) => send(transport, '/v1/balance/quote', { amount }, call),
    topUpBalance: ({ amount, account }, call) =>
      send(transport, '/v1/balance/topup', { amount, account }, call),
    requestWithdrawal: ({ address, amount }, call) =>
      send(transport, '/v1/balance/withdrawals', { address, amount }, call),
    listWithdrawals: (params = {}, call) => read(transport, '/v1/balance/withdrawals', call, pageOf(params)),
  };
}
