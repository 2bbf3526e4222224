// LangChain. It drops members of an answer that it does not know, so a `fetch` of our own notes the receipt's id.
// npm install @langchain/openai @langchain/core @tallystick/sdk
import { ChatOpenAI } from '@langchain/openai';
import { createClient, verifyReceipt } from '@tallystick/sdk';

const url = process.env.TALLY_URL ?? 'http://127.0.0.1:8787';
const receiptIds = [];
const chat = new ChatOpenAI({
  model: 'auto',
  apiKey: process.env.TALLY_API_KEY ?? 'none',
  configuration: {
    baseURL: `${url}/v1/compute`,
    fetch: async (...request) => {
      const response = await fetch(...request);
      receiptIds.push(response.headers.get('x-receipt-id'));
      return response;
    },
  },
});

const answer = await chat.invoke('The ferry leaves at 7:40. When does it leave?');
console.log(answer.text);

const tally = createClient({ baseUrl: url });
const trust = await tally.fetchTrust();
for (const id of receiptIds) {
  const { text } = await tally.getReceipt(id);
  const verdict = await verifyReceipt(text, { trust });
  console.log(`receipt: intact ${verdict.valid}, from a trusted issuer ${verdict.issuer.trusted}`);
}
