/** Reads the body of a request or response. @throws RangeError past `limit` bytes, without reading on */
export async function readAtMost(
  message: { readonly body: AsyncIterable<Uint8Array> | null },
  limit: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of message.body ?? []) {
    length += chunk.length;
    if (length > limit) throw new RangeError(`The body is longer than ${limit} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
