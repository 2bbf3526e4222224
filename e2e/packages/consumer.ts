import { compress, restore } from '@tallystick/compress';
import { createSigner, generateSecretKey, isDid, parseJson, utf8, verify } from '@tallystick/core';
import { issue, verifyReceipt } from '@tallystick/sdk';

/** A user's program over the three packages that run everywhere. Each value of the result is true where they work. */
export async function useEverything(): Promise<Record<string, boolean>> {
  const key = generateSecretKey();
  const recipient = '0x52908400098527886E0F7030069857D2E4169EE7';
  const { receipt, text } = await issue({
    symbol: 'USDC',
    units: 25,
    amountUsd: 24.99,
    recipient,
    issuerSk: key,
  });
  const forged = text.replace('"units":25', '"units":26');
  const rows = Array.from({ length: 40 }, (_, n) => ({ pallet: n, dock: 7, ok: true }));
  const messages = [{ role: 'user', content: `Which pallets are missing?\n\n${JSON.stringify(rows)}` }];
  const compressed = compress(messages);
  return {
    'a fact of the receipt': receipt.units === 25,
    'core verifies': (await verify(parseJson(utf8(text)), { now: Date.now() })).integrity,
    'the SDK verifies': (await verifyReceipt(text)).valid,
    'the SDK refuses a forged receipt': forged !== text && !(await verifyReceipt(forged)).valid,
    'a key has a DID': isDid((await createSigner(key)).keyId),
    'a prompt is shorter': JSON.stringify(compressed.messages).length < JSON.stringify(messages).length,
    'a prompt comes back': restore(compressed)[0]?.content === messages[0]?.content,
  };
}
