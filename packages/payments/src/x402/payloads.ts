import type { PaymentPayload } from '@x402/core/types';
import { isErc6492Signature, parseErc6492Signature } from 'viem/utils';
import { z } from 'zod';

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => text.toLowerCase());
const bytes32 = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/)
  .transform((text) => text.toLowerCase());
const units = z
  .string()
  .regex(/^\d{1,39}$/)
  .transform(BigInt);
const seconds = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);

/** Facilitators fail at a text that is no signature, in place of refusing it. */
const signature = z
  .templateLiteral(['0x', z.string().regex(/^(?:[0-9a-fA-F]{2})+$/)])
  .refine((hex) => !isErc6492Signature(hex) || isReadable(hex));

/** Whether a signature of a wallet that is not deployed yet (ERC-6492) has its form. */
function isReadable(hex: `0x${string}`): boolean {
  try {
    parseErc6492Signature(hex);
    return true;
  } catch {
    return false;
  }
}

const exact = z.looseObject({
  signature,
  authorization: z.looseObject({
    from: address,
    to: address,
    value: units,
    validAfter: seconds,
    validBefore: seconds,
    nonce: bytes32,
  }),
});

const voucher = z.looseObject({
  type: z.enum(['deposit', 'voucher']),
  channelConfig: z.looseObject({ payer: address }),
  voucher: z.looseObject({ channelId: bytes32, maxClaimableAmount: units, signature: z.string() }),
  deposit: z.looseObject({ amount: units }).optional(),
});

const upto = z.looseObject({
  signature,
  permit2Authorization: z.looseObject({
    from: address,
    nonce: z
      .string()
      .regex(/^(?:\d{1,78}|0x[0-9a-fA-F]{1,64})$/)
      .transform(BigInt),
    deadline: seconds,
  }),
});

/** The EIP-3009 authorisation of an `exact` payload. This and the next two return null for a payload of any other form. */
export function exactOf(payload: PaymentPayload) {
  const { data } = exact.safeParse(payload.payload);
  return data?.authorization ?? null;
}

/** The voucher of a `batch-settlement` payload, with or without a deposit. */
export function voucherOf(payload: PaymentPayload) {
  const { data } = voucher.safeParse(payload.payload);
  if (data === undefined) return null;
  const { type, channelConfig, voucher: signed, deposit } = data;
  return {
    isDeposit: type === 'deposit',
    deposited: deposit?.amount ?? 0n,
    payer: channelConfig.payer,
    channelId: signed.channelId,
    most: signed.maxClaimableAmount,
  };
}

/** The Permit2 authorisation of an `upto` payload. */
export function uptoOf(payload: PaymentPayload) {
  const { data } = upto.safeParse(payload.payload);
  return data?.permit2Authorization ?? null;
}
