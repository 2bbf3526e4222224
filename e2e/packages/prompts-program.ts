import { compress, restore } from '@tallystick/compress';

/** A user's program over compress. Each value of the result is true where it works. */
export async function main(): Promise<Record<string, boolean>> {
  const rows = Array.from({ length: 40 }, (_, n) => ({ pallet: n, dock: 7, ok: true }));
  const messages = [{ role: 'user', content: `Which pallets are missing?\n\n${JSON.stringify(rows)}` }];
  const compressed = compress(messages);
  return {
    'a prompt becomes shorter': JSON.stringify(compressed.messages).length < JSON.stringify(messages).length,
    'a prompt comes back': restore(compressed)[0]?.content === messages[0]?.content,
  };
}
