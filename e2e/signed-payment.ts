import { randomBytes } from 'node:crypto';
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http';
import type { PaymentRequired, PaymentRequirements } from '@x402/core/types';
import { authorizationTypes } from '@x402/evm';
import type { PrivateKeyAccount } from 'viem/accounts';

/** Members of a payment that differ from the requirements. */
export interface Twist {
  readonly value?: bigint;
  readonly to?: `0x${string}`;
  /** Start of the validity in Unix seconds; ten minutes ago when absent. */
  readonly validAfter?: number;
  /** End of the validity in Unix seconds. */
  readonly validBefore?: number;
  /** Requirements that the payment claims to accept. */
  readonly accepted?: Partial<PaymentRequirements>;
  readonly extensions?: Record<string, unknown>;
}

/** The payment requirements in a 402 answer. */
export function requiredBy(response: Response): PaymentRequired {
  return decodePaymentRequiredHeader(response.headers.get('payment-required') ?? '');
}

/** The header of an `exact` payment, signed without a client, with the given deviations. */
export async function exactPayment(
  account: PrivateKeyAccount,
  required: PaymentRequired,
  twist: Twist = {},
): Promise<{ 'payment-signature': string }> {
  const [requirements] = required.accepts;
  if (requirements?.scheme !== 'exact') throw new Error('Nothing asks for exact.');
  const accepted = { ...requirements, ...twist.accepted };
  const now = Math.floor(Date.now() / 1000);
  const authorization = {
    from: account.address,
    to: twist.to ?? (accepted.payTo as `0x${string}`),
    value: twist.value ?? BigInt(accepted.amount),
    validAfter: BigInt(twist.validAfter ?? now - 600),
    validBefore: BigInt(twist.validBefore ?? now + accepted.maxTimeoutSeconds),
    nonce: `0x${randomBytes(32).toString('hex')}` as const,
  };
  const signature = await account.signTypedData({
    domain: {
      name: String(accepted.extra['name']),
      version: String(accepted.extra['version']),
      chainId: Number(accepted.network.split(':')[1]),
      verifyingContract: accepted.asset as `0x${string}`,
    },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  });
  const texts = Object.fromEntries(
    Object.entries(authorization).map(([name, value]) => [name, String(value)]),
  );
  const payment = {
    x402Version: 2,
    accepted,
    payload: { signature, authorization: texts },
    ...(twist.extensions !== undefined && { extensions: twist.extensions }),
  };
  return { 'payment-signature': encodePaymentSignatureHeader(payment) };
}
