/** Which model a session is pinned to: of the sessions used last, up to a limit. */
export interface Pins {
  get(session: string): string | null;
  set(session: string, model: string): void;
}

export function createPins(capacity = 10_000): Pins {
  const pins = new Map<string, string>();
  const set = (session: string, model: string): void => {
    pins.delete(session);
    pins.set(session, model);
    const oldest = pins.keys().next();
    if (pins.size > capacity && !oldest.done) pins.delete(oldest.value);
  };
  return { get: (session) => pins.get(session) ?? null, set };
}
