// An agent with a wallet and no account pays for a receipt in the request itself (https://www.x402.org).
// npm install @x402/fetch @x402/evm viem @tallystick/sdk
// In development: TALLY_PAYMENTS=x402 npm start, and WALLET_KEY is the private key that `tally dev wallets` shows for alice.
import { createClient, verifyReceipt } from '@tallystick/sdk';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';

const url = process.env.TALLY_URL ?? 'http://127.0.0.1:8787';
const wallet = privateKeyToAccount(process.env.WALLET_KEY);
const payments = new x402Client()
  // The development chain; Base is eip155:8453.
  .register('eip155:31337', new ExactEvmScheme(wallet))
  // The test USDC of that chain is not among the tokens that the client knows. Set a limit wherever the money is real.
  .setSpendControls({ allowedAssets: true, maxAmountPerPayment: false });
const fetchPaid = wrapFetchWithPayment(fetch, payments);

const response = await fetchPaid(`${url}/v1/receipt/emit?profile=standard`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() },
  body: JSON.stringify({ payload: { job: 7, result: 'done' }, purpose: 'job' }),
});
const receipt = await response.text();
if (!response.ok) throw new Error(receipt);
const { transaction } = decodePaymentResponseHeader(response.headers.get('payment-response'));

const trust = await createClient({ baseUrl: url }).fetchTrust();
const verdict = await verifyReceipt(receipt, { trust });
console.log(`receipt: intact ${verdict.valid}, from a trusted issuer ${verdict.issuer.trusted}`);
console.log(`the receipt names the payment: ${JSON.parse(receipt).settlement_reference.tx === transaction}`);
