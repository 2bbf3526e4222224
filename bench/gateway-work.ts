// A child process of the benchmark: the lean proxy with the work that it leaves out and the service does for each call. The work is done by the
// parts of the service itself, without the frames around them: the key is looked up, request and answer pass the gate for JSON, the prompt is
// counted, a model is chosen and the choice explained, the call is priced, its receipt is minted, and calls and receipts are listed.
// Left out still: limits and budgets, compression, retries, deadlines, checks of the provider's counts, what is learned, metrics and logs.

import { createHash, hash } from 'node:crypto';
import { canonicalize, type JsonObject, parseJson } from '../packages/core/src/index.ts';
import { billingDocument } from '../packages/inference/src/billing.ts';
import { CallTrail } from '../packages/inference/src/calls/call-trail.ts';
import { newCallOf } from '../packages/inference/src/calls/ended-call.ts';
import { openCatalogue } from '../packages/inference/src/catalogue/open.ts';
import { mintCallReceipt, newCallId } from '../packages/inference/src/pipeline/call-receipt.ts';
import { NOT_COMPRESSED } from '../packages/inference/src/pipeline/compression-summary.ts';
import { svcText, withSvc } from '../packages/inference/src/pipeline/svc.ts';
import { promptOf } from '../packages/inference/src/pipeline/token-bound.ts';
import { countPrompt } from '../packages/inference/src/pipeline/token-count.ts';
import { createRouter } from '../packages/inference/src/router/router.ts';
import { capBill, ceiling, priceCall } from '../packages/inference/src/token-prices.ts';
import { nodeSigner } from '../packages/kit/src/crypto/node-ed25519.ts';
import { RollUp } from '../packages/kit/src/roll-up.ts';
import { listRow, type OwnedReceipt } from '../packages/receipts/src/listing/list-row.ts';
import { openSqliteStore } from '../packages/store/src/sqlite.ts';
import { openStore, serveProxy } from './gateway-proxy.ts';

const DID = 'did:svc:floor';
const ACCOUNT = 'api_key';
const MAX_OUTPUT = 1_024;

const [upstream = '', file = ':memory:', lists = ':memory:'] = process.argv.slice(2);
const storeReceipt = openStore(file);
const { catalogue } = openCatalogue({ OPENAI_API_KEY: 'x' });
const router = createRouter(catalogue, { rest: () => null });
const signer = nodeSigner(new Uint8Array(32).fill(7));
const issuer = { did: DID, signer: () => signer } as unknown as Parameters<typeof mintCallReceipt>[0];
const operator = { region: null, trainingRegion: null, hardwareClass: null, attestation: null };
const keyHash = (authorization: string): string => hash('sha256', authorization);
const keys = new Map([[keyHash('Bearer benchmark'), { id: 'key', calls: 0 }]]);

const listStore = await openSqliteStore(lists);
const calls = new RollUp<ReturnType<typeof newCallOf>>({
  mostAtOnce: 100,
  write: (rows) => listStore.calls.put(rows),
});
const receipts = new RollUp<OwnedReceipt & { readonly charged: bigint }>({
  mostAtOnce: 200,
  write: (rows) => listStore.receiptList.put(rows.map((one) => listRow(one, one.charged))),
});
// As late as the service's lists, and like them never written in a call.
setInterval(() => void calls.flush().then(() => receipts.flush()), 500);

serveProxy(upstream, (authorization, bytes, send) => {
  void begin(authorization, bytes).then(({ body, end }) =>
    send(body, (payload, respond) => {
      void end(payload).then(({ id, receipt, answer }) => storeReceipt(id, receipt, () => respond(answer)));
    }),
  );
});

interface Begun {
  /** The request that the upstream gets. */
  readonly body: string;
  /** Ends the call. @param payload the upstream's answer @returns what is stored, and what the caller is answered */
  readonly end: (
    payload: Buffer,
  ) => Promise<{ readonly id: string; readonly receipt: string; readonly answer: string }>;
}

async function begin(authorization: string, bytes: Uint8Array): Promise<Begun> {
  const key = keys.get(keyHash(authorization));
  if (key === undefined) throw new Error('The key is not known.');
  key.calls += 1;
  const trail = new CallTrail();
  const raw = parseJson(bytes) as JsonObject;
  const requestHash = hash('sha256', canonicalize(raw));
  const promptTokens = await countPrompt(promptOf(raw), 'o200k');
  const routed = performance.now();
  const decision = router.route({
    body: raw,
    promptTokens,
    maxOutputTokens: MAX_OUTPUT,
    preferences: {},
    session: null,
  });
  trail.decision = decision;
  trail.ends('route', routed);
  const { model } = decision;
  const { price } = model;
  const reserved = ceiling(price, { promptTokens }, MAX_OUTPUT);
  const id = newCallId(Date.now());
  const asked = performance.now();

  const end = async (payload: Buffer): ReturnType<Begun['end']> => {
    trail.answered = { model: model.id, provider: model.provider, ...trail.span(asked) };
    trail.begins();
    const settling = performance.now();
    const completion = parseJson(payload) as {
      readonly usage: Readonly<Record<string, number>>;
    } & JsonObject;
    const { prompt_tokens = 0, completion_tokens = 0 } = completion.usage;
    const usage = {
      promptTokens: prompt_tokens,
      completionTokens: completion_tokens,
      cachedTokens: 0,
      estimated: false,
    };
    const rounds = [usage] as const;
    const terms = { price, rounds, gross: 0n, lost: 0n, sharePercent: 25, member: null, dust: 0n };
    const bill = capBill(priceCall(terms), reserved);
    const at = Date.now();
    const { text, row } = await mintCallReceipt(
      issuer,
      {
        receiptId: id,
        requestHash,
        responseHash: createHash('sha256').update(payload).digest('hex'),
        model,
        requestedModel: 'auto',
        stream: false,
        complete: true,
        agent: { did: null, proved: false },
        usage,
        bill,
        account: ACCOUNT,
        compression: undefined,
        payment: null,
      },
      { now: at, operator },
    );
    const billing = billingDocument({
      bill,
      usage,
      rounds,
      price,
      account: ACCOUNT,
      reserved,
      tier: 'unregistered',
      sharePercent: 25,
    });
    trail.ends('settle', settling);
    const { charge, saving } = bill;
    calls.add(
      newCallOf({
        id,
        owner: ACCOUNT,
        at,
        receiptId: id,
        model: model.id,
        requestedModel: 'auto',
        provider: model.provider,
        routeReason: decision.explanation.outcome.why,
        stream: 0,
        promptTokens: usage.promptTokens,
        completionTokens: usage.completionTokens,
        cachedTokens: 0,
        cost: charge,
        saving,
        firstByteMs: trail.firstByteMs,
        totalMs: trail.elapsed(),
        status: 200,
        errorCode: null,
        did: null,
        key: key.id,
        session: null,
        tags: null,
        requestHash,
        trail,
        billing,
        compression: NOT_COMPRESSED,
      }),
    );
    const { profile, issuedAt, expiresAt } = row;
    receipts.add({
      id,
      owner: ACCOUNT,
      key: key.id,
      body: text,
      profile,
      issuedAt,
      expiresAt,
      charged: charge,
    });
    const svc = svcText({
      receipt: { text, anchorRef: null, anchorFailed: null },
      routing: decision.explanation,
      served: { model, failed: [] },
      compression: NOT_COMPRESSED,
      billing,
      explain: false,
    });
    return { id, receipt: text, answer: withSvc(JSON.stringify({ ...completion, model: model.id }), svc) };
  };
  return {
    body: JSON.stringify({ ...raw, model: model.upstreamModel, max_completion_tokens: MAX_OUTPUT }),
    end,
  };
}
