import type { JSX } from 'preact';
import type { Webhook } from './documents.ts';

const BECAUSE = { owner: 'Paused', failing: 'Disabled: failing', gone: 'Disabled: gone' } as const;

/** Whether messages are sent to a webhook, and if not, why. */
export function State({ of: webhook }: { readonly of: Webhook }): JSX.Element {
  if (!webhook.enabled) {
    const state = webhook.disabled_because === 'owner' ? undefined : 'fail';
    return (
      <span class="badge" data-state={state}>
        {BECAUSE[webhook.disabled_because ?? 'owner']}
      </span>
    );
  }
  if (webhook.failing_since !== null)
    return (
      <span class="badge" data-state="near">
        Failing
      </span>
    );
  return (
    <span class="badge" data-state="pass">
      Active
    </span>
  );
}
