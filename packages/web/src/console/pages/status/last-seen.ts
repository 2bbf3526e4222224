import type { SeenStatus } from '@tallystick/core';

const STORED_AS = 'tallystick-status';

/** Used if the browser stores nothing for this page. */
let unstored: string | null = null;

/** The newest status of this site that this browser has seen; null if it has seen none. */
export function recall(): SeenStatus | null {
  let text = unstored;
  try {
    text = localStorage.getItem(STORED_AS) ?? text;
  } catch {
    // As in `remember`.
  }
  return text === null ? null : read(text);
}

export function remember({ sequence, sha256 }: SeenStatus): void {
  unstored = JSON.stringify({ sequence, sha256 });
  try {
    localStorage.setItem(STORED_AS, unstored);
  } catch {
    // Some browsers store nothing: then it is remembered until the page is closed.
  }
}

export function forget(): void {
  unstored = null;
  try {
    localStorage.removeItem(STORED_AS);
  } catch {
    // Nothing is stored, so nothing has to be removed.
  }
}

function read(text: string): SeenStatus | null {
  try {
    const { sequence, sha256 } = JSON.parse(text) as SeenStatus;
    return Number.isSafeInteger(sequence) && typeof sha256 === 'string' ? { sequence, sha256 } : null;
  } catch {
    return null;
  }
}
