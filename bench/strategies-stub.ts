import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** What a stub's answer is billed by. */
const ANSWER_TOKENS = 200;
/** About the characters of a token of English. */
const CHARACTERS = 4;

interface Asked {
  readonly model: string;
  readonly messages: readonly { readonly content: string }[];
}

export interface Stub {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a server that answers every chat completion at once, with 200 tokens, whoever is asked. */
export async function startStub(): Promise<Stub> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { model, messages } = (await json(request)) as Asked;
    const prompt = Math.ceil(messages.map(({ content }) => content).join('').length / CHARACTERS);
    const message = { role: 'assistant', content: 'word '.repeat(ANSWER_TOKENS).trim() };
    const usage = {
      prompt_tokens: prompt,
      completion_tokens: ANSWER_TOKENS,
      total_tokens: prompt + ANSWER_TOKENS,
    };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ id: 'stub', object: 'chat.completion', created: 0, model, choices, usage }),
    );
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
