/** The replacement of one character by another. */
interface Change {
  readonly text: string;
  readonly at: number;
  readonly from: string;
  readonly to: string;
  readonly member: string;
}

/** Members in which one character can be changed so that the receipt stays well-formed. */
const PLACES = [
  ['purpose', /"purpose":\s*"(?=[a-z])/i],
  ['hash', /"hash":\s*"sha256:(?=[0-9a-f])/],
] as const;

/** Changes one character of a signed member, as a cheat would. Null if the text has no such member. */
export function tamper(text: string): Change | null {
  for (const [member, place] of PLACES) {
    const found = place.exec(text);
    if (found === null) continue;
    const at = found.index + found[0].length;
    const from = text.charAt(at);
    const to = from === 'b' ? 'd' : 'b';
    return { text: text.slice(0, at) + to + text.slice(at + 1), at, from, to, member };
  }
  return null;
}
