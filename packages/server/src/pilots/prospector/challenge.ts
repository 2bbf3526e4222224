import { type JsonValue, parseJson } from '@tallystick/core';
import { z } from 'zod';
import type { Answer } from './inspection.ts';

const common = {
  scheme: z.string().min(1),
  network: z.string().min(1),
  asset: z.string().min(1),
  payTo: z.string().min(1),
  maxTimeoutSeconds: z.number(),
};

/** The challenge of x402, version 2: base64 of JSON in `PAYMENT-REQUIRED`. */
const second = z.looseObject({
  x402Version: z.literal(2),
  resource: z.looseObject({ url: z.string() }),
  accepts: z.array(z.looseObject({ ...common, amount: z.string() })),
});

/** Version 1: the body of the 402. */
const first = z.looseObject({
  x402Version: z.literal(1),
  accepts: z.array(z.looseObject({ ...common, resource: z.string(), maxAmountRequired: z.string() })),
});

/** One way to pay, of either version. */
interface PaymentOption {
  readonly network: string;
  readonly amount: string;
  readonly asset: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly resource: string;
}

export interface Challenge {
  readonly version: 1 | 2;
  readonly ways: readonly PaymentOption[];
}

/** The payment requirements of a 402; null where none can be decoded. */
export function readChallenge({ headers, json }: Pick<Answer, 'headers' | 'json'>): Challenge | null {
  const header = headers.get('payment-required');
  if (header !== undefined) {
    const read = second.safeParse(base64Json(header));
    if (!read.success) return null;
    const { accepts, resource } = read.data;
    return { version: 2, ways: accepts.map((one) => ({ ...one, resource: resource.url })) };
  }
  const read = first.safeParse(json);
  if (!read.success) return null;
  const ways = read.data.accepts.map((one) => ({ ...one, amount: one.maxAmountRequired }));
  return { version: 1, ways };
}

function base64Json(text: string): JsonValue | undefined {
  if (!/^[\w+/-]+={0,2}$/.test(text)) return undefined;
  try {
    return parseJson(Buffer.from(text, 'base64'));
  } catch {
    return undefined;
  }
}

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const MAX_SECONDS = 86_400;

/** What makes the challenge impossible to pay, in words; empty where nothing does. */
export function challengeFaults({ version, ways }: Challenge, origin: string): string[] {
  if (ways.length === 0) return ['accepts is empty'];
  return ways.flatMap((way, index) =>
    wayFaults(way, version, origin).map((fault) => `accepts[${index}]: ${fault}`),
  );
}

function wayFaults(way: PaymentOption, version: 1 | 2, origin: string): string[] {
  const { network, amount, asset, payTo, maxTimeoutSeconds, resource } = way;
  const evm = version === 2 ? network.startsWith('eip155:') : EVM_ADDRESS.test(asset);
  const faults: (string | false)[] = [
    !/^[1-9]\d{0,77}$/.test(amount) && 'the amount is not a positive integer of atomic units',
    version === 2 && !/^[-a-z0-9]{3,8}:[-\w]{1,32}$/.test(network) && 'the network is not a CAIP-2 id',
    evm && !EVM_ADDRESS.test(asset) && 'the asset is not an EVM address',
    evm &&
      (!EVM_ADDRESS.test(payTo) || /^0x0{40}$/.test(payTo)) &&
      'payTo is not an EVM address that can be paid',
    !(Number.isInteger(maxTimeoutSeconds) && maxTimeoutSeconds >= 1 && maxTimeoutSeconds <= MAX_SECONDS) &&
      `maxTimeoutSeconds is not between 1 and ${MAX_SECONDS}`,
    !(URL.canParse(resource) && new URL(resource).origin === origin) &&
      'the resource does not belong to this origin',
  ];
  return faults.filter((fault) => fault !== false);
}
