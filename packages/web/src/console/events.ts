/** A server-sent event (HTML standard, section 9.2.6). */
interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Reads the events of a stream. Comments, such as heartbeats, are passed over.
 * @param heard called for each piece that arrives
 */
export async function* events(
  body: ReadableStream<Uint8Array>,
  heard: () => void,
): AsyncGenerator<ServerEvent> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  try {
    for (let rest = ''; ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      const blocks = (rest + value).split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const found = eventOf(block);
        if (found !== null) yield found;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function eventOf(block: string): ServerEvent | null {
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, name, value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name === 'event') event = value;
    if (name === 'data') data.push(value);
  }
  return data.length === 0 ? null : { event, data: data.join('\n') };
}
