/** Yields rows in pages of `size`. `read` gets the last row so far, and returns those after it. */
export async function* pages<Row>(
  size: number,
  read: (last: Row | undefined) => Promise<Row[]>,
): AsyncGenerator<Row, void, undefined> {
  let last: Row | undefined;
  let page: Row[];
  do {
    page = await read(last);
    yield* page;
    last = page.at(-1);
  } while (page.length === size);
}
