import { TallyError } from '@tallystick/core';

/** A text as one part of a path. @param field the text's name in an error @throws invalid_field for an unpaired surrogate */
export function pathPart(text: string, field: string): string {
  try {
    return encodeURIComponent(text);
  } catch (cause) {
    throw new TallyError('invalid_field', `\`${field}\` contains an unpaired surrogate.`, { field, cause });
  }
}
