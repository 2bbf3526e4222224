import { isCurrency } from '../../packages/core/src/index.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('');

/** Every text of three upper-case letters that a bill may name as its currency, sorted. */
export function currencyCodes(): { readonly name: string }[] {
  const texts = LETTERS.flatMap((a) => LETTERS.flatMap((b) => LETTERS.map((c) => a + b + c)));
  return texts.filter(isCurrency).map((name) => ({ name }));
}
