/** A wallet of this browser (EIP-1193). */
interface Wallet {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
}

/** The wallet that an extension or a wallet’s own browser has put into the page. */
export function browserWallet(): Wallet | null {
  return (globalThis as { ethereum?: Wallet }).ethereum ?? null;
}

/** One way to pay, of the document in `PAYMENT-REQUIRED` (x402 version 2). */
interface Requirements {
  readonly scheme: string;
  /** CAIP-2. */
  readonly network: string;
  readonly asset: string;
  /** In base units. */
  readonly amount: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name?: string; readonly version?: string };
}

/** What a payment has to be. */
export interface PaymentRequired {
  readonly x402Version: number;
  readonly resource: unknown;
  readonly accepts: readonly Requirements[];
}

/** Reads `PAYMENT-REQUIRED`. */
export function readRequired(header: string): PaymentRequired {
  const bytes = Uint8Array.from(atob(header), (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes)) as PaymentRequired;
}

/** The payment by `exact` that is asked for, which moves the amount at once; null if none is. */
export function exactOf({ accepts }: PaymentRequired): Requirements | null {
  return accepts.find(({ scheme, network }) => scheme === 'exact' && network.startsWith('eip155:')) ?? null;
}

/** The clock of a chain may be behind that of this computer. */
const BEHIND_SECONDS = 600;

/**
 * Has the wallet sign the transfer (EIP-3009, by EIP-712), and returns `PAYMENT-SIGNATURE`. Nothing moves by that: the
 * service submits it.
 * @param now Unix seconds
 * @throws what the wallet throws, such as that its owner declined
 */
export async function signPayment(
  wallet: Wallet,
  required: PaymentRequired,
  accepted: Requirements,
  now: number,
): Promise<string> {
  const [from] = (await wallet.request({ method: 'eth_requestAccounts' })) as string[];
  const chainId = Number(accepted.network.replace('eip155:', ''));
  const chain = { chainId: `0x${chainId.toString(16)}` };
  await wallet.request({ method: 'wallet_switchEthereumChain', params: [chain] });
  const nonce = Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  );
  const authorization = {
    from,
    to: accepted.payTo,
    value: accepted.amount,
    validAfter: String(now - BEHIND_SECONDS),
    validBefore: String(now + accepted.maxTimeoutSeconds),
    nonce: `0x${nonce.join('')}`,
  };
  const { name, version } = accepted.extra;
  const typed = {
    domain: { name, version, chainId, verifyingContract: accepted.asset },
    primaryType: 'TransferWithAuthorization',
    types: TYPES,
    message: authorization,
  };
  const params = [from, JSON.stringify(typed)];
  const signature = await wallet.request({ method: 'eth_signTypedData_v4', params });
  const payment = {
    x402Version: required.x402Version,
    resource: required.resource,
    accepted,
    payload: { signature, authorization },
  };
  return btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(payment))));
}

const field = (name: string, type: string) => ({ name, type });
const TYPES = {
  EIP712Domain: [
    field('name', 'string'),
    field('version', 'string'),
    field('chainId', 'uint256'),
    field('verifyingContract', 'address'),
  ],
  TransferWithAuthorization: [
    field('from', 'address'),
    field('to', 'address'),
    field('value', 'uint256'),
    field('validAfter', 'uint256'),
    field('validBefore', 'uint256'),
    field('nonce', 'bytes32'),
  ],
};
