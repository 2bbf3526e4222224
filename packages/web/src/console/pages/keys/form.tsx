import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type ApiProblem, api } from '../../api.ts';
import { DayField, TextField } from '../../components/form.tsx';
import { Several } from '../../components/several.tsx';
import { useLoad } from '../../load.ts';
import type { ApiKey, Model } from './documents.ts';
import { formOf, type LimitsForm, limitsOf } from './limits.ts';

/** What is typed about a key. */
interface KeyForm {
  readonly name: string;
  /** A UTC day, such as `2027-12-31`; empty for never. */
  readonly expires: string;
  readonly manages: boolean;
  readonly keep: boolean;
  readonly limits: LimitsForm;
}

/** The names by which problems name the fields below. */
export const FIELDS = [
  'name',
  'expires_at',
  'limits.day_usdc',
  'limits.month_usdc',
  'limits.requests_per_minute',
  'limits.tokens_per_minute',
  'limits.models',
  'limits.providers',
  'limits.max_price.prompt',
  'limits.max_price.completion',
  'limits.max_price.request',
] as const;

export function useKeyForm(key: ApiKey | null): readonly [KeyForm, (change: Partial<KeyForm>) => void] {
  const [form, setForm] = useState<KeyForm>({
    name: key?.name ?? '',
    expires: key?.expires_at?.slice(0, 10) ?? '',
    manages: key?.manages ?? false,
    keep: key?.keep ?? false,
    limits: formOf(key?.limits ?? {}),
  });
  return [form, (change) => setForm((before) => ({ ...before, ...change }))];
}

/** What is sent of the form. @param key that it changes; its end is not sent again, since it may be within a day */
export function bodyOf(
  { name, expires, manages, keep, limits }: KeyForm,
  key: ApiKey | null,
): Record<string, unknown> {
  const same = expires === (key?.expires_at?.slice(0, 10) ?? '');
  return {
    name: name.trim() === '' ? null : name.trim(),
    ...(same ? {} : { expires_at: expires === '' ? null : `${expires}T00:00:00Z` }),
    manages,
    keep,
    limits: limitsOf(limits),
  };
}

/** The fields of a key: its name, and what limits it. */
export function KeyFields({
  form,
  change,
  problem,
}: {
  readonly form: KeyForm;
  readonly change: (change: Partial<KeyForm>) => void;
  readonly problem: ApiProblem | null;
}): JSX.Element {
  const { value: models } = useLoad('models', async (signal) => {
    const { data } = await api<{ data: readonly Model[] }>('/v1/compute/models', { signal });
    return data;
  });
  const { limits } = form;
  const set = (changes: Partial<LimitsForm>): void => change({ limits: { ...limits, ...changes } });
  /** A field of the limits, as props. */
  const limit = (member: Exclude<keyof LimitsForm, 'models' | 'providers'>, name: string) => ({
    name: `limits.${name}`,
    problem,
    value: limits[member],
    onValue: (value: string) => set({ [member]: value }),
    placeholder: 'No limit',
  });
  return (
    <>
      <div class="columns">
        <TextField
          name="name"
          label="Name"
          problem={problem}
          value={form.name}
          onValue={(name) => change({ name })}
          placeholder="nightly batch"
          autoFocus
        />
        <DayField
          name="expires_at"
          label="Expires"
          help="It stops working when this day begins (UTC)."
          problem={problem}
          value={form.expires}
          onValue={(expires) => change({ expires })}
        />
      </div>
      <fieldset>
        <legend>Budget</legend>
        <div class="columns">
          <TextField label="USDC a day" mode="decimal" {...limit('day_usdc', 'day_usdc')} />
          <TextField label="USDC a month" mode="decimal" {...limit('month_usdc', 'month_usdc')} />
        </div>
      </fieldset>
      <fieldset>
        <legend>Rate</legend>
        <div class="columns">
          <TextField
            label="Calls a minute"
            mode="numeric"
            {...limit('requests_per_minute', 'requests_per_minute')}
          />
          <TextField
            label="Tokens a minute"
            mode="numeric"
            {...limit('tokens_per_minute', 'tokens_per_minute')}
          />
        </div>
      </fieldset>
      <fieldset>
        <legend>What it may call</legend>
        <div class="columns">
          <Several
            name="limits.models"
            label="Models"
            problem={problem}
            values={limits.models}
            onValues={(names) => set({ models: names })}
            options={(models ?? []).map(({ id }) => id)}
          />
          <Several
            name="limits.providers"
            label="Providers"
            problem={problem}
            values={limits.providers}
            onValues={(names) => set({ providers: names })}
            options={[...new Set((models ?? []).map(({ owned_by: provider }) => provider))]}
          />
        </div>
      </fieldset>
      <fieldset>
        <legend>Highest price, in USDC</legend>
        <div class="columns three">
          <TextField label="Million prompt tokens" mode="decimal" {...limit('prompt', 'max_price.prompt')} />
          <TextField
            label="Million answer tokens"
            mode="decimal"
            {...limit('completion', 'max_price.completion')}
          />
          <TextField label="A call" mode="decimal" {...limit('request', 'max_price.request')} />
        </div>
      </fieldset>
      <label class="keep">
        <input
          type="checkbox"
          checked={form.manages}
          onChange={({ currentTarget }) => change({ manages: currentTarget.checked })}
        />
        <span>
          May manage keys
          <small>It can then make, change and revoke keys of this account, and read its statement.</small>
        </span>
      </label>
      <label class="keep">
        <input
          type="checkbox"
          checked={form.keep}
          onChange={({ currentTarget }) => change({ keep: currentTarget.checked })}
        />
        <span>
          Keep prompts and answers
          <small>
            Of its calls, encrypted, where the operator of the service keeps any. A call can say otherwise
            with <code>svc.keep</code>.
          </small>
        </span>
      </label>
    </>
  );
}
