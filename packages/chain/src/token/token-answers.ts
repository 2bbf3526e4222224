import { z } from 'zod';
import * as answers from '../answers.ts';

/** A log of `eth_getLogs` or of a receipt. */
export const log = z.object({
  address: answers.address,
  topics: z.array(answers.hash),
  data: answers.data,
  blockNumber: answers.integer,
  blockHash: answers.hash,
  transactionHash: answers.hash,
  logIndex: answers.integer,
  /** True for a log of a block that is no longer in the chain. */
  removed: z.boolean().optional(),
});

export type Log = z.infer<typeof log>;

/** The members of a transaction of any type that matter for a payment. */
export const call = z.object({
  hash: answers.hash,
  blockHash: answers.hash.nullable(),
  to: answers.address.nullable(),
  input: answers.data,
});

export const receipt = z.object({
  transactionHash: answers.hash,
  blockNumber: answers.integer.nullable(),
  blockHash: answers.hash.nullable(),
  status: answers.quantity,
  logs: z.array(log),
});

export type Call = z.infer<typeof call>;
