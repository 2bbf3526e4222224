import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FacilitatorClient } from '@x402/core/server';
import type { PaymentPayload, PaymentRequirements, SettleResponse } from '@x402/core/types';
import { devAccount } from '../packages/chain/src/token/dev-accounts.ts';
import { localFacilitator } from '../packages/payments/src/x402/facilitator.ts';

/** How a settlement is answered; calling `settle` does it honestly. */
export type Conduct = (settle: () => Promise<SettleResponse>) => Promise<SettleResponse | 'hang_up'>;

const honest: Conduct = (settle) => settle();

/** A facilitator over HTTP, honest until a test changes its behaviour. */
export interface TestFacilitator {
  readonly url: string;
  /** Number of settlements that were requested. */
  readonly requests: { readonly count: number };
  /** Sets the URL of the chain's node. */
  use(rpcUrl: string): void;
  behave(conduct: Conduct): void;
  /** Approves every payment, or verifies payments again. */
  approve(everything: boolean): void;
  /** Settles the payment of the last request, without being asked again. */
  settleLast(): Promise<SettleResponse>;
  close(): Promise<void>;
}

interface Asked {
  readonly paymentPayload: PaymentPayload;
  readonly paymentRequirements: PaymentRequirements;
}

export async function startFacilitator(): Promise<TestFacilitator> {
  let own: FacilitatorClient | undefined;
  let conduct = honest;
  let last: (() => Promise<SettleResponse>) | undefined;
  const requests = { count: 0 };
  let approves = false;

  async function answer(request: IncomingMessage): Promise<unknown> {
    if (own === undefined) throw new Error('The facilitator has no chain yet.');
    if (request.url === '/supported') return own.getSupported();
    const { paymentPayload, paymentRequirements } = (await bodyOf(request)) as Asked;
    if (request.url === '/verify') {
      if (!approves) return own.verify(paymentPayload, paymentRequirements);
      const extra = { balance: '1000000', totalClaimed: '0', withdrawRequestedAt: 0, refundNonce: '0' };
      return { isValid: true, payer: devAccount('bob').address, extra };
    }
    requests.count += 1;
    const facilitator = own;
    last = () => facilitator.settle(paymentPayload, paymentRequirements);
    return conduct(last);
  }

  const server = createServer((request, response) => {
    answer(request).then(
      (outcome) => (outcome === 'hang_up' ? response.destroy() : send(response, 200, outcome)),
      (error: unknown) => send(response, 500, { error: String(error) }),
    );
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    use(rpcUrl) {
      own = localFacilitator({
        rpcUrl,
        chainId: 31_337,
        account: devAccount('facilitator'),
        timeoutMs: 60_000,
      });
    },
    behave: (next) => {
      conduct = next;
    },
    approve: (everything) => {
      approves = everything;
    },
    settleLast: async () => {
      if (last === undefined) throw new Error('It was never asked to settle.');
      return last();
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
