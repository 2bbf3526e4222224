import { profiles } from '@tallystick/core';
import type { JSX } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { Empty } from '../../components/states.tsx';
import { open } from '../../frame/open.ts';
import { identity } from '../../identity/identity.ts';
import { fragment, go } from '../../router.ts';
import { ReceiptList } from './list.tsx';
import { Receipt } from './receipt.tsx';

const title = 'Receipts';

/** A receipt by its id, for everybody, and the receipts of whoever is signed in. */
export function Page(): JSX.Element {
  const id = fragment.value;
  if (id !== '') {
    return (
      <>
        <header class="title">
          <h1>Receipt</h1>
          <a href="/receipts">{identity.value === null ? 'Look up another' : 'All receipts'}</a>
        </header>
        <LookUp />
        <Receipt key={id} id={id} />
      </>
    );
  }
  if (identity.value !== null) return <ReceiptList lookUp={<LookUp />} />;
  return (
    <>
      <header class="title">
        <h1>{title}</h1>
      </header>
      <LookUp />
      <Empty title="Nothing looked up yet">
        <p>
          If you have no id, <a href="/">mint a receipt</a>: it takes a second. If you have a receipt from
          another service, <a href="/verify">verify it</a>: that page sends nothing at all. To see a list of
          your own receipts, sign in.
        </p>
        <button type="button" class="primary" onClick={() => void (open.value = 'sign-in')}>
          Sign in
        </button>
      </Empty>
    </>
  );
}

const KEPT = profiles.map(({ name, kept }) => `${name} ${kept}`).join(', ');

/** Takes an id. The address has it then, so that it can be shared. */
function LookUp(): JSX.Element {
  const id = fragment.value;
  const [text, setText] = useState(id);
  const needsHelp = id === '' && identity.value === null;
  // A plain effect runs after the next frame and would undo what was typed until then.
  useLayoutEffect(() => setText(id), [id]);
  return (
    <form
      class="look-up"
      aria-label="Look up a receipt"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') go(`/receipts#${encodeURIComponent(text.trim())}`);
      }}
    >
      <label for="id">Look up any receipt by its id</label>
      <div>
        <input
          id="id"
          placeholder="r_env_…"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-describedby={needsHelp ? 'id-help' : undefined}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <button type="submit">Look up</button>
      </div>
      {needsHelp && (
        <p class="fine" id="id-help">
          The id is the member <code>receipt_id</code> or <code>receipt.id</code> of the receipt. How long a
          receipt is kept follows from its profile: {KEPT}.
        </p>
      )}
    </form>
  );
}
