import { type ErrorCode, errorTable } from '@tallystick/core';
import type { JSX } from 'preact';
import { Icon } from '../../components/icon.tsx';
import type { CallDetail } from './documents.ts';
import { faultOf } from './moments.ts';

/** What a caller can do about an error of a call. */
const ADVICE: Readonly<Record<string, string>> = {
  provider_failed: 'Send it again. With the model auto, another model is tried where one fails.',
  provider_timeout: 'Send it again, or ask for a faster model. With the model auto, another one is tried.',
  provider_rate_limited: 'Wait a moment, or use the model auto, which goes to models that have calls left.',
  provider_refused:
    'Correct the request: the provider does not take it as it is. The answer to the call said which part it refuses.',
  no_model_available: 'Send it again in a minute, or allow more models in provider.only and provider.ignore.',
  insufficient_balance:
    'Top up the balance, or lower the limit of the answer, so that less has to be reserved.',
  budget_exceeded: 'Wait for the next day or month, or raise the budget of the key.',
  quota_exceeded: 'Wait for the next month, or use a key of a higher tier.',
  model_not_found: 'Take a model from the list at /v1/compute/models, or ask for auto.',
  model_gone: 'Take another model: the provider has shut this one down.',
  model_not_allowed: 'Take a model that the limits of the key allow, or change its limits.',
  context_too_long: 'Shorten the prompt, or allow compression with svc.compression.',
  rate_limited: 'Send fewer calls at once. The answer said in Retry-After how long to wait.',
  client_closed: 'Nothing, if you stopped it. Otherwise give the client a longer timeout.',
  price_outdated: 'Take another model, until the operator has read the price of this one again.',
};

/** What went wrong with a call and what to do about it; nothing for a call that went well. */
export function Failure({ call }: { readonly call: CallDetail }): JSX.Element | null {
  const { status, error_code: code, receipt_id, tries } = call;
  if (code === null && status < 400) return null;
  const last = tries.at(-1);
  const title = code !== null && Object.hasOwn(errorTable, code) ? errorTable[code as ErrorCode].title : '';
  return (
    <div class="problem" role="note" aria-labelledby="failure">
      <Icon name="fail" />
      <div>
        <h2 id="failure">
          {receipt_id === null
            ? title || `The call ended with ${status}`
            : `The answer ended early: ${title}`}
        </h2>
        {last !== undefined && (
          <p>
            {last.model}: {faultOf(last.kind, last.status)}.
          </p>
        )}
        <p>{(code !== null && ADVICE[code]) || 'The reference says what this error means.'}</p>
        <p class="fine">
          {receipt_id === null
            ? 'Nothing was charged.'
            : 'The part that was delivered is billed, and has a receipt.'}{' '}
          {code !== null && (
            <a href={`/docs/errors#${code}`}>
              <code>{code}</code>
            </a>
          )}
        </p>
      </div>
    </div>
  );
}
