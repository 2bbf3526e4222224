import { toFacilitatorEvmSigner } from '@x402/evm';
import { BatchSettlementEvmScheme as BatchClient } from '@x402/evm/batch-settlement/client';
import { BatchSettlementEvmScheme as BatchFacilitator } from '@x402/evm/batch-settlement/facilitator';
import { ExactEvmScheme as ExactClient } from '@x402/evm/exact/client';
import { ExactEvmScheme as ExactFacilitator } from '@x402/evm/exact/facilitator';
import { UptoEvmScheme as UptoClient } from '@x402/evm/upto/client';
import { UptoEvmScheme as UptoFacilitator } from '@x402/evm/upto/facilitator';
import { createClient, type Hex, http, parseAbi, publicActions, walletActions } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { devAccount } from '../../chain/src/token/dev-accounts.ts';
import { type DevToken, deployDevToken } from '../../chain/src/token/dev-token.ts';
import { startAnvil, type TestAnvil } from './anvil.ts';

// The ecosystem's own client and facilitator, unchanged, against the development chain's contracts.

const NETWORK = 'eip155:31337';
const PERMIT2: Hex = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
const BATCH: Hex = '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003';
const alice = devAccount('alice');
const treasury = devAccount('treasury').address;
const authorizer = devAccount('facilitator');

type Requirements = Parameters<ExactClient['createPaymentPayload']>[1];
type Payload = Parameters<ExactFacilitator['settle']>[0];
type Facilitator = Pick<ExactFacilitator, 'verify' | 'settle'>;

let anvil: TestAnvil;
let dev: DevToken;
let exact: ExactFacilitator;
let upto: UptoFacilitator;
let batch: BatchFacilitator;
let client: ReturnType<typeof connect>;

function connect() {
  return createClient({
    account: authorizer,
    transport: http(anvil.rpcUrl),
    pollingInterval: 20,
    cacheTime: 0,
    chain: {
      id: 31_337,
      name: 'devnet',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [anvil.rpcUrl] } },
    },
  })
    .extend(publicActions)
    .extend(walletActions);
}

beforeAll(async () => {
  anvil = await startAnvil();
  dev = await deployDevToken(anvil.rpcUrl);
  client = connect();
  const signer = toFacilitatorEvmSigner({ ...client, address: authorizer.address } as never);
  exact = new ExactFacilitator(signer);
  upto = new UptoFacilitator(signer);
  batch = new BatchFacilitator(signer, authorizer);
  await approvePermit2();
});
afterAll(() => anvil.stop());

async function approvePermit2(): Promise<void> {
  const hash = await client.writeContract({
    account: alice,
    address: dev.usdc,
    abi: parseAbi(['function approve(address spender, uint256 value) returns (bool)']),
    functionName: 'approve',
    args: [PERMIT2, 2n ** 256n - 1n],
  });
  await client.waitForTransactionReceipt({ hash });
}

function requirements(scheme: string, amount: string, extra: Record<string, unknown> = {}): Requirements {
  return {
    scheme,
    network: NETWORK,
    amount,
    asset: dev.usdc,
    payTo: treasury,
    maxTimeoutSeconds: 600,
    extra: { name: 'USDC', version: '2', ...extra },
  };
}

async function pay(
  payer: Pick<ExactClient, 'createPaymentPayload'>,
  accepted: Requirements,
): Promise<Payload> {
  const { payload } = await payer.createPaymentPayload(2, accepted);
  return { x402Version: 2, accepted, payload };
}

async function settle(facilitator: Facilitator, payment: Payload, accepted = payment.accepted) {
  expect(await facilitator.verify(payment, payment.accepted)).toMatchObject({ isValid: true });
  return facilitator.settle(payment, accepted);
}

const usdcOf = async (address: string) => (await dev.balance(address)).usdc;
let before: { alice: bigint; treasury: bigint };
beforeEach(async () => {
  before = { alice: await usdcOf(alice.address), treasury: await usdcOf(treasury) };
});

/** Base units that left the payer, and that came to the treasury. */
async function moved(): Promise<[bigint, bigint]> {
  return [before.alice - (await usdcOf(alice.address)), (await usdcOf(treasury)) - before.treasury];
}

describe('exact', () => {
  it.each(['eip3009', 'permit2'])('moves just the price by %s, once', async (assetTransferMethod) => {
    const payment = await pay(new ExactClient(alice), requirements('exact', '800', { assetTransferMethod }));
    expect(await settle(exact, payment)).toMatchObject({ success: true, network: NETWORK });
    expect(await moved()).toEqual([800n, 800n]);
    const signer = toFacilitatorEvmSigner({ ...client, address: authorizer.address } as never);
    expect(await new ExactFacilitator(signer).settle(payment, payment.accepted)).toMatchObject({
      success: false,
    });
    expect(await moved()).toEqual([800n, 800n]);
  });

  it('moves nothing for another payee, amount or time', async () => {
    const payment = await pay(new ExactClient(alice), requirements('exact', '800'));
    const { authorization, signature } = payment.payload as {
      authorization: Record<string, string>;
      signature: Hex;
    };
    for (const change of [{ to: authorizer.address }, { value: '801' }, { validBefore: '9999999999' }]) {
      const forged = { ...payment, payload: { authorization: { ...authorization, ...change }, signature } };
      const { success } = await exact.settle(forged, { ...payment.accepted });
      expect({ change, success }).toEqual({ change, success: false });
    }
    expect(await moved()).toEqual([0n, 0n]);
  });
});

describe('upto', () => {
  const accept = () => requirements('upto', '5000', { facilitatorAddress: authorizer.address });

  it('moves what was used, within what was permitted', async () => {
    const payment = await pay(new UptoClient(alice), accept());
    const used = { ...payment.accepted, amount: '1234' };
    expect(await settle(upto, payment, used)).toMatchObject({ success: true, amount: '1234' });
    expect(await moved()).toEqual([1234n, 1234n]);
  });

  it('moves nothing beyond it', async () => {
    const payment = await pay(new UptoClient(alice), accept());
    expect(await upto.settle(payment, { ...payment.accepted, amount: '5001' })).toMatchObject({
      success: false,
    });
    expect(await moved()).toEqual([0n, 0n]);
  });
});

describe('batch-settlement', () => {
  const accept = (amount = '100', extra = {}) =>
    requirements('batch-settlement', amount, {
      receiverAuthorizer: authorizer.address,
      withdrawDelay: 900,
      ...extra,
    });
  let salt = 0;
  const newClient = () => new BatchClient(alice, { salt: `0x${String(++salt).padStart(64, '0')}` });

  it.each(['eip3009', 'permit2'])('deposits by %s, claims, pays out and gives back', async (method) => {
    const payment = await pay(newClient(), accept('100', { assetTransferMethod: method }));
    const { channelConfig, voucher, deposit } = payment.payload as unknown as {
      channelConfig: Record<string, unknown>;
      voucher: { maxClaimableAmount: string; signature: Hex; channelId: Hex };
      deposit: { amount: string };
    };
    expect(await settle(batch as never, payment)).toMatchObject({ success: true });
    const held = BigInt(deposit.amount);
    expect(await moved()).toEqual([held, 0n]);

    const claim = {
      voucher: { channel: channelConfig, maxClaimableAmount: voucher.maxClaimableAmount },
      signature: voucher.signature,
      totalClaimed: '70',
    };
    const act = (payload: object) => batch.settle({ ...payment, payload } as never, payment.accepted);
    const more = { ...claim, totalClaimed: '101' };
    expect(await act({ type: 'claim', claims: [more] })).toMatchObject({ success: false });
    expect(await act({ type: 'claim', claims: [claim] })).toMatchObject({ success: true });
    expect(await act({ type: 'settle', receiver: treasury, token: dev.usdc })).toMatchObject({
      success: true,
    });
    expect(await moved()).toEqual([held, 70n]);
    expect(await act({ type: 'settle', receiver: treasury, token: dev.usdc })).toMatchObject({
      success: false,
    });

    const all = { ...claim, totalClaimed: '100' };
    const refund = { type: 'refund', channelConfig, voucher, amount: deposit.amount, refundNonce: '0' };
    expect(await act({ ...refund, claims: [all] })).toMatchObject({ success: true });
    expect(await moved()).toEqual([100n, 70n]);
    expect(await act({ type: 'settle', receiver: treasury, token: dev.usdc })).toMatchObject({
      success: true,
    });
    expect(await moved()).toEqual([100n, 100n]);
    expect(await usdcOf(BATCH)).toBe(0n);
  });

  it('lets a payer go after the delay, and not before', async () => {
    const payment = await pay(newClient(), accept());
    expect(await settle(batch as never, payment)).toMatchObject({ success: true });
    const config = (payment.payload as { channelConfig: never }).channelConfig;
    const abi = parseAbi([
      'struct Config { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }',
      'function initiateWithdraw(Config config, uint128 amount)',
      'function finalizeWithdraw(Config config)',
      'error WithdrawDelayNotElapsed()',
      'error InvalidChannel()',
    ]);
    const call = { address: BATCH, abi } as const;
    const start = { ...call, functionName: 'initiateWithdraw', args: [config, 100n] } as const;
    const finish = { ...call, account: alice, functionName: 'finalizeWithdraw', args: [config] } as const;
    await expect(client.simulateContract({ ...start, account: authorizer })).rejects.toThrow(
      /InvalidChannel/,
    );
    await client.waitForTransactionReceipt({
      hash: await client.writeContract({ ...start, account: alice }),
    });
    await expect(client.simulateContract(finish)).rejects.toThrow(/WithdrawDelayNotElapsed/);
    const held = (await moved())[0];
    await anvil.rpc('evm_increaseTime', 901);
    await anvil.rpc('anvil_mine', '0x1');
    await client.waitForTransactionReceipt({ hash: await client.writeContract(finish) });
    expect(await moved()).toEqual([held - 100n, 0n]);
  });
});

describe('the test money', () => {
  const abi = parseAbi([
    'function mint(address to, uint256 value)',
    'function permit(address holder, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
    'function allowance(address holder, address spender) view returns (uint256)',
    'function nonces(address holder) view returns (uint256)',
    'function totalSupply() view returns (uint256)',
    'function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)',
    'function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
    'error NotOwner()',
    'error PermitExpired()',
    'error InvalidSignature()',
    'error CallerIsNotPayee()',
    'error AuthorizationUsedOrCanceled()',
  ]);
  const domain = () =>
    ({ name: 'USDC', version: '2', chainId: 31_337, verifyingContract: dev.usdc }) as const;
  const send = async (call: object) =>
    client.waitForTransactionReceipt({
      hash: await client.writeContract({ address: dev.usdc, abi, ...call } as never),
    });
  const simulate = (call: object) =>
    client.simulateContract({ address: dev.usdc, abi, account: authorizer, ...call } as never);

  it('is minted by the faucet alone', async () => {
    await expect(simulate({ functionName: 'mint', args: [alice.address, 1n] })).rejects.toThrow(/NotOwner/);
    const supply = () => client.readContract({ address: dev.usdc, abi, functionName: 'totalSupply' });
    const had = await supply();
    await dev.give(alice.address, { usdc: 5n, wei: 0n });
    expect([(await supply()) - had, (await moved())[0]]).toEqual([5n, -5n]);
  });

  it('takes a permit once, in time, from its holder', async () => {
    const nonce = await client.readContract({
      address: dev.usdc,
      abi,
      functionName: 'nonces',
      args: [alice.address],
    });
    const deadline = 2n ** 40n;
    const message = { owner: alice.address, spender: treasury, value: 9n, nonce, deadline };
    const signature = await alice.signTypedData({
      domain: domain(),
      types: {
        Permit: [
          { name: 'owner', type: 'address' },
          { name: 'spender', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'nonce', type: 'uint256' },
          { name: 'deadline', type: 'uint256' },
        ],
      },
      primaryType: 'Permit',
      message,
    });
    const r: Hex = `0x${signature.slice(2, 66)}`;
    const s: Hex = `0x${signature.slice(66, 130)}`;
    const v = Number(`0x${signature.slice(130)}`);
    const permit = (value: bigint, until: bigint, flipped = false) => {
      const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
      const mirrored: Hex = `0x${(order - BigInt(s)).toString(16).padStart(64, '0')}`;
      const signed = flipped ? [55 - v, r, mirrored] : [v, r, s];
      return { functionName: 'permit', args: [alice.address, treasury, value, until, ...signed] };
    };
    await expect(simulate(permit(10n, deadline))).rejects.toThrow(/InvalidSignature/);
    await expect(simulate(permit(9n, deadline, true))).rejects.toThrow(/InvalidSignature/);
    await expect(simulate(permit(9n, 1n))).rejects.toThrow(/PermitExpired/);
    await send(permit(9n, deadline));
    await expect(simulate(permit(9n, deadline))).rejects.toThrow(/InvalidSignature/);
    const args = [alice.address, treasury] as const;
    expect(await client.readContract({ address: dev.usdc, abi, functionName: 'allowance', args })).toBe(9n);
  });

  it('is received by the payee alone, and never after the payer has cancelled', async () => {
    const nonce: Hex = `0x${'0c'.repeat(32)}`;
    const message = {
      from: alice.address,
      to: authorizer.address,
      value: 3n,
      validAfter: 0n,
      validBefore: 2n ** 40n,
      nonce,
    };
    const types = {
      ReceiveWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    } as const;
    const signature = await alice.signTypedData({
      domain: domain(),
      types,
      primaryType: 'ReceiveWithAuthorization',
      message,
    });
    const receive = {
      functionName: 'receiveWithAuthorization',
      args: [...Object.values(message), signature],
    };
    await expect(simulate({ ...receive, account: alice })).rejects.toThrow(/CallerIsNotPayee/);
    await expect(simulate(receive)).resolves.toBeDefined();
    const cancelled = await alice.signTypedData({
      domain: domain(),
      types,
      primaryType: 'CancelAuthorization',
      message: { authorizer: alice.address, nonce },
    });
    await send({ functionName: 'cancelAuthorization', args: [alice.address, nonce, cancelled] });
    await expect(simulate(receive)).rejects.toThrow(/AuthorizationUsedOrCanceled/);
  });
});

describe('a chain that is no development chain', () => {
  it('is left alone', async () => {
    await expect(deployDevToken('https://rpc.example.com/v1')).rejects.toMatchObject({
      code: 'chain_mismatch',
    });
  });

  it('keeps what its people hold when it is prepared again', async () => {
    await dev.give(treasury, { usdc: 7n, wei: 0n });
    const again = await deployDevToken(anvil.rpcUrl);
    expect(again.accounts).toEqual(dev.accounts);
    expect(await moved()).toEqual([0n, 7n]);
  });
});
