import { byId, setContents } from '../dom.ts';
import { evidenceProse as prose } from '../prose.ts';
import { formatText } from '../words.ts';

/** Shows that a file is too large to be a witness policy, in its place, and returns true. */
export function refusesLarge(file: File): true {
  setContents(byId('policy-source'), tooLarge(file));
  return true;
}

/** Why a file is no witness policy. */
export const tooLarge = ({ name, size }: File): string => formatText(prose.text.tooLarge, name, size);
