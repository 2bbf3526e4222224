import { TallyError } from '@tallystick/core';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiProblem, api } from '../api.ts';
import { Dialog } from '../components/dialog.tsx';
import { close } from '../frame/open.ts';
import { useLoad } from '../load.ts';
import { canMakeKeys, deleteBrowserKey, makeBrowserKey, openBrowserKey } from './browser-key.ts';
import { type Identity, identityOfFile, identityOfKey, signIn } from './identity.ts';

/** The ways to sign in. Each is tried on the service before it counts. */
export function SignIn(): JSX.Element {
  const [way, setWay] = useState<'key' | 'did'>('key');
  const [keep, setKeep] = useState(false);
  const [wrong, setWrong] = useState('');
  const [busy, setBusy] = useState(false);

  const enter = async (make: () => Identity | Promise<Identity>): Promise<void> => {
    setBusy(true);
    setWrong('');
    try {
      const who = await make();
      await tryOut(who);
      signIn(who, { keep });
      close();
    } catch (error) {
      if (!(error instanceof TallyError || error instanceof ApiProblem)) throw error;
      setWrong(error.message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title="Sign in" close={close}>
      <div class="ways" role="group" aria-label="Way to sign in">
        {(['key', 'did'] as const).map((name) => (
          <button type="button" key={name} aria-pressed={way === name} onClick={() => setWay(name)}>
            {name === 'key' ? 'By a key' : 'By a DID'}
          </button>
        ))}
      </div>
      {way === 'key' ? <ByKey enter={enter} busy={busy} /> : <ByDid enter={enter} busy={busy} />}
      <label class="keep">
        <input
          type="checkbox"
          checked={keep}
          onChange={({ currentTarget }) => setKeep(currentTarget.checked)}
        />
        <span>
          Stay signed in until this tab is closed
          <small>Otherwise until the page is loaded again. No cookie is set either way.</small>
        </span>
      </label>
      {wrong !== '' && (
        <p class="wrong" role="alert">
          {wrong}
        </p>
      )}
    </Dialog>
  );
}

interface WayProps {
  readonly enter: (make: () => Identity | Promise<Identity>) => Promise<void>;
  readonly busy: boolean;
}

function ByKey({ enter, busy }: WayProps): JSX.Element {
  const [text, setText] = useState('');
  return (
    <form
      class="way"
      onSubmit={(event) => {
        event.preventDefault();
        void enter(() => identityOfKey(text));
      }}
    >
      <label for="sign-in-key">API, tenant, partner or operator key</label>
      <input
        id="sign-in-key"
        autoFocus
        type="password"
        autocomplete="off"
        spellcheck={false}
        placeholder="k_pro_…"
        aria-describedby="sign-in-key-help"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <p class="fine" id="sign-in-key-help">
        It is sent in the <code>Authorization</code> header of requests to this service, and nowhere else.
      </p>
      <button type="submit" class="primary" disabled={busy || text === ''}>
        Sign in
      </button>
    </form>
  );
}

function ByDid({ enter, busy }: WayProps): JSX.Element {
  const own = useLoad('own', async () => ({ agent: canMakeKeys() ? await openBrowserKey() : null }));
  const agent = own.value?.agent ?? null;
  const enterOwn = (): Promise<void> =>
    // Another tab may have made one since this dialog was opened.
    enter(async () => ({
      way: 'did',
      from: 'browser',
      agent: agent ?? (await openBrowserKey()) ?? (await makeBrowserKey()),
    }));
  const forgetOwn = async (): Promise<void> => {
    if (!confirm('Delete this key for good? Nobody can sign as its DID again, nor spend its balance.'))
      return;
    await deleteBrowserKey();
    own.reload();
  };
  return (
    <div class="way">
      <label for="sign-in-file">Key file</label>
      <input
        id="sign-in-file"
        type="file"
        accept=".json,.key,application/json"
        aria-describedby="sign-in-file-help"
        disabled={busy}
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          if (file) void enter(async () => identityOfFile(new Uint8Array(await file.arrayBuffer())));
        }}
      />
      <p class="fine" id="sign-in-file-help">
        As <code>tally keys generate</code> writes it. The secret stays in this page’s memory and signs each
        request (RFC 9421).
      </p>
      <p class="or">or</p>
      <button type="button" class="primary" disabled={busy || !canMakeKeys()} onClick={() => void enterOwn()}>
        {agent === null ? 'Make a key in this browser' : 'Use this browser’s key'}
      </button>
      {agent === null ? (
        <p class="fine">
          {canMakeKeys()
            ? 'Its secret can’t be read or copied: it works in this browser alone, until the browser’s data are cleared.'
            : 'This needs HTTPS and a browser that signs with Ed25519.'}
        </p>
      ) : (
        <p class="fine">
          <code>{agent.did}</code>{' '}
          <button type="button" class="plain" onClick={() => void forgetOwn()}>
            Delete this key
          </button>
        </p>
      )}
    </div>
  );
}

/** Asks for something that only this identity may have. @throws ApiProblem if it is refused */
async function tryOut(who: Identity): Promise<void> {
  if (who.way === 'did' || who.kind === 'API key') await api('/v1/balance', { as: who });
  else if (who.kind === 'Operator key') await api('/v1/operator/overview', { as: who });
  else if (who.kind === 'Tenant key') await api('/v1/receipts', { as: who, query: { limit: 1 } });
  else await tryPilot(who);
}

/** A partner key opens the pilots, and nothing that reads: they look at the key before they refuse an empty request. */
async function tryPilot(who: Identity): Promise<void> {
  try {
    await api('/v1/prospector/qualify', { method: 'POST', as: who, body: {} });
  } catch (error) {
    if (!(error instanceof ApiProblem && error.status === 422)) throw error;
  }
}
