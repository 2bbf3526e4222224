import { BATCH_SETTLEMENT_ADDRESS, BATCH_SETTLEMENT_DOMAIN, voucherTypes } from '@x402/evm';
import { verifyTypedData } from 'viem/utils';
import { z } from 'zod';

const hex = z.templateLiteral(['0x', z.string()]);
const signedVoucher = z.looseObject({
  channelConfig: z.looseObject({ payerAuthorizer: hex }),
  voucher: z.looseObject({
    channelId: hex,
    maxClaimableAmount: z
      .string()
      .regex(/^\d{1,39}$/)
      .transform(BigInt),
    signature: hex,
  }),
});

/**
 * Whether a voucher is signed by its channel's authorizer (EIP-712). The authorizer must have a key of its own: a
 * contract's answer could change before the voucher is claimed.
 * @param network CAIP-2
 */
export async function isSigned(
  network: string,
  payload: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const { data } = signedVoucher.safeParse(payload);
  if (data === undefined) return false;
  const { channelId, maxClaimableAmount, signature } = data.voucher;
  try {
    return await verifyTypedData({
      address: data.channelConfig.payerAuthorizer,
      domain: {
        ...BATCH_SETTLEMENT_DOMAIN,
        chainId: Number(network.split(':')[1]),
        verifyingContract: BATCH_SETTLEMENT_ADDRESS,
      },
      types: voucherTypes,
      primaryType: 'Voucher',
      message: { channelId, maxClaimableAmount },
      signature,
    });
  } catch {
    return false;
  }
}
