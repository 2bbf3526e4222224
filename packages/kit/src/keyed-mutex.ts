/** Runs work of one name one after another, in the order of the calls; work of different names runs at once. */
export type KeyedMutex = <T>(name: string, work: () => Promise<T>) => Promise<T>;

export function createKeyedMutex(): KeyedMutex {
  const newest = new Map<string, Promise<unknown>>();
  return async (name, work) => {
    const before = newest.get(name) ?? Promise.resolve();
    const turn = before.then(work, work);
    newest.set(name, turn);
    try {
      return await turn;
    } finally {
      if (newest.get(name) === turn) newest.delete(name);
    }
  };
}
