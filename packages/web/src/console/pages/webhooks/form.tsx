import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { Dialog } from '../../components/dialog.tsx';
import { OtherProblem, TextField, useAction } from '../../components/form.tsx';
import type { Webhook } from './documents.ts';

const EVENTS = [
  ['balance.low', 'What you can spend has fallen below the threshold of your balance.'],
  ['budget.reached', 'A budget of yours is used up.'],
  ['key.revoked', 'A key of your account was revoked.'],
  ['anchor.final', 'A posting of the anchor log is final on the chain.'],
  ['status.changed', 'An endpoint, a provider or a model went up, down or became slow.'],
] as const;

/** Makes a webhook, or changes one. @param of null for a new one */
export function WebhookForm({
  of: webhook,
  close,
  saved,
}: {
  readonly of: Webhook | null;
  readonly close: () => void;
  readonly saved: (webhook: Webhook) => void;
}): JSX.Element {
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [events, setEvents] = useState<readonly string[]>(webhook?.events ?? ['balance.low', 'key.revoked']);
  const { busy, problem, run } = useAction();
  const wrong = problem?.field?.startsWith('events') === true;
  const save = async (): Promise<void> => {
    const body = { url: url.trim(), events };
    saved(
      webhook === null
        ? await api<Webhook>('/v1/webhooks', { method: 'POST', body })
        : await api<Webhook>(`/v1/webhooks/${webhook.id}`, { method: 'PATCH', body }),
    );
  };
  return (
    <Dialog title={webhook === null ? 'Make a webhook' : 'Change the webhook'} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run(save);
        }}
      >
        <TextField
          name="url"
          label="Address"
          mode="url"
          problem={problem}
          value={url}
          onValue={setUrl}
          placeholder="https://example.com/hooks/tallystick"
          help="Https, at a public address."
          autoFocus
        />
        <fieldset>
          <legend>It is told when</legend>
          {EVENTS.map(([name, words]) => (
            <label class="check" key={name}>
              <input
                type="checkbox"
                checked={events.includes(name)}
                onChange={({ currentTarget: { checked } }) =>
                  setEvents(checked ? [...events, name] : events.filter((one) => one !== name))
                }
              />
              <span>
                <code>{name}</code>
                <small>{words}</small>
              </span>
            </label>
          ))}
          {wrong && (
            <p class="wrong" role="alert">
              {problem?.message}
            </p>
          )}
        </fieldset>
        <OtherProblem of={problem} fields={['url', 'events']} />
        <div class="choices end">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={busy}>
            {webhook === null ? 'Make the webhook' : 'Save'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
