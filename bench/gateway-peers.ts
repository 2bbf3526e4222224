// A child process of the benchmark: the upstream that answers at once, or a bare proxy in front of it.

import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Pool } from 'undici';

const CREATED = 1_790_000_000;
const MODEL = 'gpt-5-mini';
const WORDS =
  'A tally stick is a notched piece of wood , split in two so that neither half can be changed alone .';

/** Bytes per token of the prompt. */
const BYTES_OF_TOKEN = 4;
const ANSWER_TOKENS = 23;

const completionOf = (prompt: number): object => ({
  id: 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG',
  object: 'chat.completion',
  created: CREATED,
  model: MODEL,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: WORDS, refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: {
    prompt_tokens: prompt,
    completion_tokens: ANSWER_TOKENS,
    total_tokens: prompt + ANSWER_TOKENS,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  },
  service_tier: 'default',
  system_fingerprint: null,
});

const chunk = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG',
    object: 'chat.completion.chunk',
    created: CREATED,
    model: MODEL,
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;

const chunks =
  WORDS.split(' ')
    .map((word) => chunk({ content: `${word} ` }, null))
    .join('') + chunk({}, 'stop');

const streamOf = (prompt: number): string =>
  `${chunks}data: {"id":"chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG","object":"chat.completion.chunk","choices":[],` +
  `"usage":{"prompt_tokens":${prompt},"completion_tokens":${ANSWER_TOKENS},"total_tokens":${prompt + ANSWER_TOKENS}}}` +
  '\n\ndata: [DONE]\n\n';

/**
 * Answers like OpenAI, without a model and without delay. The token counts follow from the length of the prompt,
 * because the service would count again if they could not be true.
 */
async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const body = await buffer(incoming).catch(() => null);
  // A client that leaves in the middle of its request, as load generators do at their end, is no fault.
  if (body === null) return void outgoing.destroy();
  const streamed = body.includes('"stream":true');
  const prompt = Math.ceil(body.length / BYTES_OF_TOKEN);
  const text = streamed ? streamOf(prompt) : JSON.stringify(completionOf(prompt));
  outgoing.writeHead(200, {
    'content-type': streamed ? 'text/event-stream' : 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  outgoing.end(text);
}

/** Passes everything on as it comes, which is the least that a gateway can do. */
function proxyTo(upstream: string): RequestListener {
  const pool = new Pool(upstream);
  return (incoming, outgoing) => {
    const { url = '/', headers } = incoming;
    const { host: _host, connection: _connection, ...passed } = headers;
    const outgoingCall = { path: url, method: 'POST', headers: passed, body: incoming } as const;
    pool
      .stream(outgoingCall, ({ statusCode, headers: answered }) => {
        const { connection: _hop, 'keep-alive': _timeout, ...kept } = answered;
        return outgoing.writeHead(statusCode, kept);
      })
      .catch(() => outgoing.destroy());
  };
}

const [upstream] = process.argv.slice(2);
const server = createServer(upstream === undefined ? (...call) => void answer(...call) : proxyTo(upstream));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`ready on http://127.0.0.1:${port}\n`);
});
