/** The newest head of the log that this browser has found good. */
export interface RememberedHead {
  /** The signed note. */
  readonly note: string;
  /** When it was first seen, RFC 3339. */
  readonly seen: string;
}

const nameOf = (origin: string): string => `tallystick-log ${origin}`;

/** Kept until the page is closed where the browser stores nothing. */
const unstored = new Map<string, RememberedHead>();

/** What this browser remembers of the log with this origin; null before the first visit. */
export function recallHead(origin: string): RememberedHead | null {
  const held = unstored.get(origin) ?? null;
  try {
    const { note, seen } = JSON.parse(
      localStorage.getItem(nameOf(origin)) ?? '{}',
    ) as Partial<RememberedHead>;
    return typeof note === 'string' && typeof seen === 'string' ? { note, seen } : held;
  } catch {
    return held;
  }
}

export function rememberHead(origin: string, head: RememberedHead): void {
  unstored.set(origin, head);
  try {
    localStorage.setItem(nameOf(origin), JSON.stringify(head));
  } catch {
    // Then it is remembered until the page is closed.
  }
}
