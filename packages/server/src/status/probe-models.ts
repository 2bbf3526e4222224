import type { Model, PipelineContext } from '@tallystick/inference';
import { ProviderError, upkeepOf } from '@tallystick/inference';
import { routableModels } from './models.ts';

/** Milliseconds since its last call within which a provider is not probed. Rounds are about a minute apart. */
const RECENT_MS = 50_000;
/** Milliseconds that an answer may take; with the probes of the endpoints this is less than a round. */
const PATIENCE_MS = 5_000;
/** The smallest limit of output tokens that every provider accepts. */
const MAX_TOKENS = 16;

type ProbeContext = Pick<PipelineContext, 'catalogue' | 'providers' | 'health' | 'upkeep'>;

/**
 * Calls one chat model of each provider that nobody has called lately, so that the status can say whether it answers:
 * the cheapest one that is not resting. The result counts like a call's; nobody is billed, and no receipt is made.
 * Never rejects.
 * @param paid whether providers may be called at the operator's expense; otherwise only built-in models are, which cost
 * nothing
 */
export async function probeModels(
  { catalogue, providers, health, upkeep }: ProbeContext,
  { paid, signal }: { readonly paid: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const terms = upkeep();
  const routable = routableModels(catalogue.models).filter(
    (model) => (model.builtIn || paid) && upkeepOf(model, terms) !== 'retired',
  );
  const names = new Set(routable.map(({ provider }) => provider));
  const ask = async (model: Model): Promise<void> => {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    try {
      await providers
        .get(model.provider)
        ?.chat({ model: model.upstreamModel, body: QUESTION, signal: limited });
      health.success(model);
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      const late = limited.aborted && !signal.aborted;
      health.failure(model, late ? new ProviderError('timeout', 'the probe took too long') : error);
    }
  };
  const chosen = [...names].flatMap((name) => {
    const models = catalogue.models.filter(({ provider }) => provider === name);
    if (models.some((model) => (health.sinceLastCall(model) ?? Infinity) < RECENT_MS)) return [];
    return cheapest(routable.filter((model) => model.provider === name && health.available(model)));
  });
  await Promise.allSettled(chosen.map(ask));
}

const QUESTION = {
  messages: [{ role: 'user', content: 'Answer with the word ok.' }],
  max_completion_tokens: MAX_TOKENS,
};

function cheapest(models: readonly Model[]): Model[] {
  const price = ({ price }: Model): bigint => price.inputPerMTok + price.outputPerMTok;
  return models.toSorted((a, b) => Number(price(a) - price(b))).slice(0, 1);
}
