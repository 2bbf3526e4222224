import { formatText, prose } from '../words.ts';

/** Largest file in bytes that browsers read at once. */
const BYTES = 2 ** 31 - 1;

/**
 * Shows that a file is too large to be read as one text, and returns true; false for evidence that can be read, which is a text
 * for each line. @param id of the file input; undefined if it was dropped
 */
export function refusesLarge({ name, size }: File, id: string | undefined): boolean {
  if (id === 'evidence' && size <= BYTES) return false;
  const message = formatText(prose.text.tooLarge, name, size);
  tallystickPage.refuse({ code: 'file_too_large', message }, prose.text.file);
  return true;
}
