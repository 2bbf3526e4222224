/** The first 62 digits of both alphabets of RFC 4648, sections 4 and 5. */
export const SHARED_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Writes bytes in the 64 digits of an alphabet, without padding. */
export function base64Writer(alphabet: string): (bytes: Uint8Array) => string {
  /** The two characters of every 12-bit group. */
  const pairs: readonly string[] = Array.from(alphabet, (high) =>
    Array.from(alphabet, (low) => high + low),
  ).flat();
  return (bytes) => {
    const whole = bytes.length - (bytes.length % 3);
    let text = '';
    for (let index = 0; index < whole; index += 3) {
      const group = (at(bytes, index) << 16) | (at(bytes, index + 1) << 8) | at(bytes, index + 2);
      text += pairs[group >> 12];
      text += pairs[group & 0xfff];
    }
    if (bytes.length - whole === 1) text += pairs[at(bytes, whole) << 4];
    if (bytes.length - whole === 2) {
      const group = (at(bytes, whole) << 10) | (at(bytes, whole + 1) << 2);
      text += pairs[group >> 6];
      text += alphabet[group & 0x3f];
    }
    return text;
  };
}

function at(bytes: Uint8Array, index: number): number {
  return bytes[index] as number;
}
