const BREAK = 0;
export const LETTER = 1;
export const DIGIT = 2;
/** The kind of characters whose script has no spaces between words, or attaches particles to them. */
export const IDEOGRAPH = 3;

const ascii = new Uint8Array(128);
for (let code = 0; code < 26; code++) ascii[65 + code] = ascii[97 + code] = LETTER;
for (let code = 48; code < 58; code++) ascii[code] = DIGIT;
ascii[95] = LETTER;

/** The kind of a UTF-16 code unit for splitting words; 0 for one between words. */
export function kindOf(code: number): number {
  if (code < 128) return ascii[code] ?? BREAK;
  if (code < 0xc0) return BREAK;
  if (code === 0xd7 || code === 0xf7 || (code >= 0x2000 && code < 0x2c00)) return BREAK;
  if (isIdeograph(code)) return IDEOGRAPH;
  if (code >= 0x3000 && code < 0x3040) return BREAK;
  return code >= 0xfe10 && code < 0xff21 ? BREAK : LETTER;
}

/** Kana, Han (surrogates of the further planes too), Hangul. */
function isIdeograph(code: number): boolean {
  return (
    (code >= 0x3040 && code < 0x3130) ||
    (code >= 0x31f0 && code < 0x3200) ||
    (code >= 0x3400 && code < 0xa000) ||
    (code >= 0xac00 && code < 0xd7b0) ||
    (code >= 0xd840 && code < 0xd890)
  );
}

export function isSpace(code: number): boolean {
  return (code >= 9 && code <= 13) || code === 32 || code === 0xa0 || code === 0x3000;
}

export function isLowerCase(character: string): boolean {
  return character !== character.toUpperCase();
}
