import { type MemberTier, SPREAD_PERCENT } from '@tallystick/ledger';
import { money, priceDocument } from '../billing.ts';
import type { Model } from '../catalogue/catalogue.ts';
import { serviceTierOf } from '../providers/service-tier.ts';
import { type Bill, outputCeiling, priceCall, tariffFor } from '../token-prices.ts';
import type { Usage } from '../types.ts';
import type { ChatRequest } from './chat-request.ts';
import { summaryOf } from './complete.ts';
import { type CompressionSummary, compressionDocument, savingIn } from './compression-summary.ts';
import type { PipelineContext } from './context.ts';
import type { RoutedPayer } from './key-routing.ts';
import { maxOutputOf } from './output-limit.ts';
import { routeChat } from './route.ts';
import { expectPrompt } from './token-count.ts';

/** The caller who asks for an estimate. */
export interface Estimator extends RoutedPayer {
  /** Tells callers apart who share an account. */
  readonly name: string;
  /** The DID that a share of the saving would go to. */
  readonly did: string | null;
  readonly tier: MemberTier;
}

/**
 * Estimates what would be left of a prompt, which model would get it, and its cost and saving. Nothing is called,
 * reserved or stored. Throws routing's errors.
 */
export async function estimateChat(
  context: PipelineContext,
  request: ChatRequest,
  { did, tier, ...payer }: Estimator,
): Promise<Readonly<Record<string, unknown>>> {
  const route = await routeChat(context, request, payer, { dry: true });
  const { decision } = route;
  const { model } = decision;
  const promptTokens = await expectPrompt(route, model.tokenizer, context.providers.get(model.provider));
  const maxOutput = maxOutputOf(context, request, model) * request.choices;
  const summary = summaryOf(request, route);
  const terms = { promptTokens, ...serviceTierOf(request.body) };
  const usage = { ...terms, completionTokens: 0, cachedTokens: 0, estimated: true };
  const member = tier === 'unregistered' ? null : did;
  const bill = billOf(summary, model, usage, { member, percent: SPREAD_PERCENT[tier] });
  return {
    model: model.id,
    tokens: {
      prompt: promptTokens,
      max_completion: maxOutput,
      counted_with:
        model.tokenizer === 'estimate'
          ? 'o200k; the model’s own tokenizer may count differently'
          : model.tokenizer,
    },
    compression: compressionDocument(summary, usage, 0),
    price_per_million_tokens: priceDocument(tariffFor(model.price, terms)),
    // At least the cost of the prompt, at most with the longest answer; before a member's share is returned.
    cost: {
      asset: 'USDC',
      min: money(bill.charge),
      max: money(bill.charge + outputCeiling(model.price, terms, maxOutput)),
    },
    cashback: {
      asset: 'USDC',
      saving: money(bill.saving),
      expected: money(bill.share + bill.discount),
      percent: SPREAD_PERCENT[tier],
      tier,
      as: member === null ? 'discount' : 'credit',
      to: member,
    },
    routing: decision.explanation,
  };
}

/** The bill of the prompt alone, with nothing of it in the provider's cache. */
function billOf(
  summary: CompressionSummary,
  model: Model,
  usage: Usage,
  { member, percent }: { member: string | null; percent: number },
): Bill {
  const { price } = model;
  const { gross, lostCache: lost } = savingIn(summary, model, usage);
  return priceCall({ price, rounds: [usage], gross, lost, sharePercent: percent, member, dust: 0n });
}
