// LangChain, with a callback handler that gets the receipt of each run of a model.
// npm install @langchain/openai @langchain/core @tallystick/langchain @tallystick/sdk
import { ChatOpenAI } from '@langchain/openai';
import { TallystickCallbackHandler } from '@tallystick/langchain';
import { createClient } from '@tallystick/sdk';

const url = process.env.TALLY_URL ?? 'http://127.0.0.1:8787';
const receipts = [];
const handler = new TallystickCallbackHandler({
  trust: await createClient({ baseUrl: url }).fetchTrust(),
  onReceipt: (receipt) => receipts.push(receipt),
});
const chat = new ChatOpenAI({
  model: 'auto',
  // A service in development accepts any key; elsewhere it is a key of the service, k_….
  apiKey: process.env.TALLY_API_KEY ?? 'none',
  configuration: { baseURL: `${url}/v1/compute`, fetch: handler.fetch },
  callbacks: [handler],
});

const answer = await chat.invoke('The ferry leaves at 7:40. When does it leave?');
console.log(answer.text);

// The verdict is on the bytes that were sent and received: the receipt covers this request and this answer.
for (const { verdict } of receipts)
  console.log(`receipt: intact ${verdict.valid}, from a trusted issuer ${verdict.issuer.trusted}`);
