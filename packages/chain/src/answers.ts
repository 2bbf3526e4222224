import { z } from 'zod';

// Encodings of Ethereum's JSON-RPC (execution-apis): quantities and data are `0x` hex.

export const quantity = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/)
  .transform(BigInt);

export const integer = quantity.refine((value) => value <= BigInt(Number.MAX_SAFE_INTEGER)).transform(Number);

const lowerHex = (pattern: RegExp) =>
  z
    .string()
    .regex(pattern)
    .transform((text) => text.toLowerCase() as `0x${string}`);

/** A hash: 32 bytes, in lower case. */
export const hash = lowerHex(/^0x[0-9a-fA-F]{64}$/);
/** An address: 20 bytes, in lower case. */
export const address = lowerHex(/^0x[0-9a-fA-F]{40}$/);
export const data = lowerHex(/^0x(?:[0-9a-fA-F]{2})*$/);

/** A block without the bodies of its transactions. */
export const block = z.object({
  number: integer,
  hash,
  timestamp: integer,
  baseFeePerGas: quantity.optional(),
  transactions: z.array(hash),
});

/** A transaction's receipt. Only a transaction in a block has one; some older nodes give one earlier, with a null block. */
export const receipt = z.object({
  transactionHash: hash,
  blockNumber: integer.nullable(),
  blockHash: hash.nullable(),
  status: quantity,
});

export const kindOfTransaction = z.object({ type: quantity.optional() });

/** An EIP-1559 transaction (type 2). */
export const transaction = z.object({
  chainId: integer,
  nonce: integer,
  gas: quantity,
  maxFeePerGas: quantity,
  maxPriorityFeePerGas: quantity,
  to: address.nullable(),
  value: quantity,
  input: data,
  accessList: z.array(z.object({ address, storageKeys: z.array(hash) })),
  r: quantity,
  s: quantity,
  yParity: quantity.optional(),
  v: quantity.optional(),
});

export type NodeTransaction = z.infer<typeof transaction>;
