/** Hands on items in the order in which they were put in, each as soon as it and those before it are there. */
export class InOrder<T> {
  readonly #deliver: (item: T) => void;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(deliver: (item: T) => void) {
    this.#deliver = deliver;
  }

  /** @param item a promise must not reject */
  put(item: T | Promise<T>): void {
    if (this.#waiting === 0 && !(item instanceof Promise)) {
      this.#deliver(item);
      return;
    }
    this.#waiting += 1;
    this.#last = this.#after(this.#last, item);
  }

  /** Resolves when all that was put in is handed on. */
  get settled(): Promise<void> {
    return this.#last;
  }

  async #after(last: Promise<void>, item: T | Promise<T>): Promise<void> {
    await last;
    this.#deliver(await item);
    this.#waiting -= 1;
  }
}
