import { createSigner, generateSecretKey, isDid, parseJson, utf8, verify } from '@tallystick/core';
import { issue, verifyReceipt } from '@tallystick/sdk';

/** A user's program over core and SDK. Each value of the result is true where they work. */
export async function main(): Promise<Record<string, boolean>> {
  const issuerSk = generateSecretKey();
  const recipient = '0x52908400098527886E0F7030069857D2E4169EE7';
  const { receipt, text } = await issue({ symbol: 'USDC', units: 25, amountUsd: 24.99, recipient, issuerSk });
  const forged = text.replace('"units":25', '"units":26');
  return {
    'a member of the receipt is read': receipt.units === 25,
    'core verifies': (await verify(parseJson(utf8(text)), { now: Date.now() })).integrity,
    'the SDK verifies': (await verifyReceipt(text)).valid,
    'the SDK refuses a forged receipt': forged !== text && !(await verifyReceipt(forged)).valid,
    'a key has a DID': isDid((await createSigner(issuerSk)).keyId),
  };
}
