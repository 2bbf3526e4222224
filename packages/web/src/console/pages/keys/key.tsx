import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { Confirm } from '../../components/confirm.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { OtherProblem, useAction } from '../../components/form.tsx';
import { Meter } from '../../components/meter.tsx';
import { Rotate } from '../../components/rotate.tsx';
import { Time } from '../../components/time.tsx';
import type { ApiKey, NewKey } from './documents.ts';
import { bodyOf, FIELDS, KeyFields, useKeyForm } from './form.tsx';

interface KeyProps {
  readonly of: ApiKey;
  /** Whether it is the key that the account is named after, which only the operator limits or revokes. */
  readonly isOwn: boolean;
  readonly close: () => void;
  readonly changed: () => void;
  readonly rotated: (key: NewKey) => void;
}

/** A key: what it spent, its limits, which can be changed, and how it is rotated or revoked. */
export function KeyDialog({ of: key, isOwn, close, changed, rotated }: KeyProps): JSX.Element {
  const [asking, setAsking] = useState<'rotate' | 'revoke' | null>(null);
  const revoke = async (): Promise<void> => {
    await api(`/v1/keys/${key.id}`, { method: 'DELETE' });
    changed();
    close();
  };
  if (asking === 'rotate')
    return (
      <Rotate<NewKey>
        title="Rotate this key"
        path={`/v1/keys/${key.id}/rotate`}
        close={() => setAsking(null)}
        rotated={rotated}
      >
        <b>{key.name ?? key.id}</b> gets a new secret. Its limits, its spending and its account stay. If you
        are signed in with it, sign in again with the new one.
      </Rotate>
    );
  if (asking === 'revoke')
    return (
      <Confirm title="Revoke this key?" verb="Revoke" act={revoke} close={() => setAsking(null)}>
        <p>
          <b>{key.name ?? key.id}</b> stops working with the next request. It stays in the list, and can’t be
          made to work again.
        </p>
      </Confirm>
    );
  const isRevoked = key.revoked_at !== null;
  return (
    <Dialog title={key.name ?? 'Key'} close={close} wide>
      <Facts of={key} />
      {isOwn || isRevoked ? (
        <p class="fine">
          {isRevoked
            ? 'This key was revoked. It can’t be changed.'
            : 'The account is named after this key. It can be rotated; only the operator limits or revokes it.'}
        </p>
      ) : (
        <Edit
          of={key}
          saved={() => {
            changed();
            close();
          }}
        />
      )}
      {!isRevoked && (
        <div class="choices apart">
          <button type="button" onClick={() => setAsking('rotate')}>
            Rotate…
          </button>
          {!isOwn && (
            <button type="button" class="danger" onClick={() => setAsking('revoke')}>
              Revoke…
            </button>
          )}
        </div>
      )}
    </Dialog>
  );
}

function Facts({ of: key }: { readonly of: ApiKey }): JSX.Element {
  return (
    <dl class="terms">
      <div>
        <dt>Id</dt>
        <dd class="id">
          <code>{key.id}</code>
          <CopyButton text={key.id} what="id of the key" />
        </dd>
      </div>
      <div>
        <dt>Made</dt>
        <dd>
          <Time at={key.created_at} />
        </dd>
      </div>
      <div>
        <dt>Last used</dt>
        <dd>{key.last_used_at === null ? 'never' : <Time at={key.last_used_at} />}</dd>
      </div>
      <div>
        <dt>Today</dt>
        <dd>
          <Meter
            label="Spent of today’s budget"
            spent={key.spent.day_usdc}
            budget={key.limits.day_usdc ?? null}
          />
        </dd>
      </div>
      <div>
        <dt>This month</dt>
        <dd>
          <Meter
            label="Spent of this month’s budget"
            spent={key.spent.month_usdc}
            budget={key.limits.month_usdc ?? null}
          />
        </dd>
      </div>
      <div>
        <dt>Calls</dt>
        <dd>
          <a href={`/activity?key=${key.id}`}>List its calls</a>
        </dd>
      </div>
    </dl>
  );
}

function Edit({ of: key, saved }: { readonly of: ApiKey; readonly saved: () => void }): JSX.Element {
  const [form, change] = useKeyForm(key);
  const { busy, problem, run } = useAction();
  const save = async (): Promise<void> => {
    await api(`/v1/keys/${key.id}`, { method: 'PATCH', body: bodyOf(form, key) });
    saved();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void run(save);
      }}
    >
      <KeyFields form={form} change={change} problem={problem} />
      <OtherProblem of={problem} fields={FIELDS} />
      <div class="choices end">
        <button type="submit" class="primary" disabled={busy}>
          Save
        </button>
      </div>
    </form>
  );
}
